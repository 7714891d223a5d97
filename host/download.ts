import { installIfNeeded } from './install';

/* Only installs the n8n of the folder that the command line names, or else that of the host. */
void installIfNeeded(process.argv[2] ?? __dirname);
