import type { Resource } from '../operation';
import { getAll } from './getAll';
import * as operations from './operations';

export const cluster: Resource = {
	value: 'cluster',
	name: 'Cluster',
	description: 'List the work clusters that jobs run on',
	defaultOperation: getAll.value,
	operations: Object.values(operations),
};
