// One line an operation, in alphabetical order: this is all that the node has to be told of it.
export { getAll } from './getAll';
