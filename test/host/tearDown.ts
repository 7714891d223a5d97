export { tearDown as default } from './setUp';
