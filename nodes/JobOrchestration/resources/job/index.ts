import type { Resource } from '../operation';
import { create } from './create';
import * as operations from './operations';

export const job: Resource = {
	value: 'job',
	name: 'Job',
	defaultOperation: create.value,
	operations: Object.values(operations),
};
