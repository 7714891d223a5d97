import type { Resource } from '../operation';
import * as operations from './operations';

export const job: Resource = {
	value: 'job',
	name: 'Job',
	defaultOperation: 'create',
	operations: Object.values(operations),
};
