import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { errorOutputItem, newApiError } from '../../nodes/JobOrchestration/execution/errors';
import type { JsonObject } from '../../nodes/JobOrchestration/json';
import { node } from './errors/shown';

const readme = readFileSync(join(__dirname, '../../README.md'), 'utf8');

test('README says what an error item holds: all of it, and nothing else', () => {
	const context = { message: 'm', description: 'd', httpStatus: 500, jobMayExist: true };
	const { json } = errorOutputItem(newApiError(node, context), 3, true);
	const { error, ...others } = json as { error: JsonObject };
	const held = [...Object.keys(others), ...Object.keys(error).map((name) => `error.${name}`)];
	const rows = [...readme.matchAll(/^\| `\$json\.([\w.]+)` \|/gm)].map(([, name]) => name);
	expect(rows).toEqual(held);
});

test('README says from where items are counted, as the error of the first does', () => {
	const context = { message: 'm', description: 'd', httpStatus: 500, jobMayExist: true };
	const { json } = errorOutputItem(newApiError(node, context), 0);
	expect(json).toMatchObject({ error: { itemIndex: 0 } });
	expect(readme).toContain('| `$json.error.itemIndex` | which input item, counted from 0 |');
});
