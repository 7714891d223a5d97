// One line an operation, in alphabetical order: this is all that the node has to be told of it.
export { create } from './create';
export { resume } from './resume';
export { stop } from './stop';
export { suspend } from './suspend';
export { terminate } from './terminate';
