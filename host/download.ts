import { join } from 'node:path';

import { installIfNeeded } from './install';
import { Steps } from './steps';

/* Only installs the host's n8n. .ci/run does this in parallel with its first steps. */
const logFile = join(__dirname, '.data', 'install.log');
void installIfNeeded({ hostFolder: __dirname, logFile }, new Steps(1));
