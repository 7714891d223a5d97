import type { Resource } from '../operation';
import * as operations from './operations';

export const cluster: Resource = {
	value: 'cluster',
	name: 'Cluster',
	defaultOperation: operations.getAll.value,
	operations: Object.values(operations),
};
