import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const read = (path: string) => readFileSync(join(__dirname, '../..', path), 'utf8');

const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> };

/** Those that look for mistakes; the one left out mends them. */
const lints = Object.keys(scripts).filter((name) => /^lint:(?!fix$)/.test(name));

test.each(lints)('%s is run by "npm run lint" or .ci/run', (name) => {
	const words = `${scripts.lint} ${read('.ci/run')}`.split(/\s+/);
	expect(words).toContain(name);
});
