// One line an operation: this is all that the node has to be told of it.
export { getAll } from './getAll';
