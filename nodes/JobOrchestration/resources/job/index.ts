import type { Resource } from '../operation';
import * as operations from './operations';

export const job: Resource = {
	value: 'job',
	name: 'Job',
	defaultOperation: operations.create.value,
	operations: Object.values(operations),
};
