import { installIfNeeded } from './install';

/* Only installs the host's n8n. .ci/run does this in parallel with its first steps. */
void installIfNeeded(__dirname);
