import { join } from 'node:path';

import { installIfNeeded } from './install';
import { Steps } from './steps';

/* Installs the host's n8n and starts nothing. .ci/run has that done beside its first steps. */
const logFile = join(__dirname, '.data', 'install.log');
void installIfNeeded({ hostFolder: __dirname, logFile }, new Steps(1));
