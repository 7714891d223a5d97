import { join } from 'node:path';

import { buildAndPack } from './nodePackage';

/* Only builds and packs the node. The hosts that start afterwards use this package. */
void buildAndPack(join(__dirname, '.data', 'pack.log'));
