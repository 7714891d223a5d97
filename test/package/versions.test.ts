import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

import { pinnedVersion } from '../../host/install';

const projectFolder = join(__dirname, '../..');
const versionsFolder = join(projectFolder, 'host/versions');
const read = (path: string) => readFileSync(join(projectFolder, path), 'utf8');

test('the docs name the releases of n8n that are run, and README the oldest and the newest', async () => {
	const older = readdirSync(versionsFolder).sort((a, b) =>
		a.localeCompare(b, 'en', { numeric: true }),
	);
	for (const version of older) {
		expect(await pinnedVersion(join(versionsFolder, version))).toBe(version);
	}
	const newest = await pinnedVersion(join(projectFolder, 'host'));
	const rows = [...read('docs/versions.md').matchAll(/^\| (\d+\.\d+\.\d+) \|/gm)];
	expect(rows.map(([, version]) => version)).toEqual([...older, newest]);
	expect(read('README.md')).toContain(`It works in n8n ${older[0]} to ${newest},`);
});
