import { readFileSync } from 'node:fs';
import { basename, join } from 'node:path';

import { hostFolder, releases } from '../versions/releases';

const read = (path: string) => readFileSync(join(__dirname, '../..', path), 'utf8');

test('the docs name the releases of n8n that are run, and README the oldest and the newest', async () => {
	const all = await releases();
	for (const { version, folder } of all) {
		if (folder !== hostFolder) expect(version).toBe(basename(folder));
	}
	const versions = all.map(({ version }) => version);
	const rows = [...read('docs/versions.md').matchAll(/^\| (\d+\.\d+\.\d+) \|/gm)];
	expect(rows.map(([, version]) => version)).toEqual(versions);
	expect(read('README.md')).toContain(`It works in n8n ${versions[0]} to ${versions.at(-1)},`);
});
