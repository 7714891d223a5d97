import { installIfNeeded } from './install';

/* Only installs the host's n8n. */
void installIfNeeded(__dirname);
