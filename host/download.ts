import { installIfNeeded } from './install';

/* Only installs the n8n of the folder that the command line names, or else that of the host. */
const { 2: folder = __dirname } = process.argv;
void installIfNeeded(folder);
