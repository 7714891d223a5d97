import type { Resource } from '../operation';
import { create } from './create';
import * as operations from './operations';

export const job: Resource = {
	value: 'job',
	name: 'Job',
	description: 'Create jobs and change their state',
	defaultOperation: create.value,
	operations: Object.values(operations),
};
