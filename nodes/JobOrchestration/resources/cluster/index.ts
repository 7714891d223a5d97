import type { Resource } from '../operation';
import { getAll } from './getAll';
import * as operations from './operations';

export const cluster: Resource = {
	value: 'cluster',
	name: 'Cluster',
	defaultOperation: getAll.value,
	operations: Object.values(operations),
};
