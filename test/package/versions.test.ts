import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

import { pinnedVersion } from '../../host/install';

const projectFolder = join(__dirname, '../..');
const versionsFolder = join(projectFolder, 'host/versions');
const read = (path: string) => readFileSync(join(projectFolder, path), 'utf8');

test('the docs name the releases of n8n that are run, and README the oldest and the newest', async () => {
	const others = readdirSync(versionsFolder);
	for (const version of others) {
		expect(await pinnedVersion(join(versionsFolder, version))).toBe(version);
	}
	const all = [...others, await pinnedVersion(join(projectFolder, 'host'))].sort((a, b) =>
		a.localeCompare(b, 'en', { numeric: true }),
	);
	const rows = [...read('docs/versions.md').matchAll(/^\| (\d+\.\d+\.\d+) \|/gm)];
	expect(rows.map(([, version]) => version)).toEqual(all);
	expect(read('README.md')).toContain(`It works in n8n ${all[0]} to ${all.at(-1)},`);
});
