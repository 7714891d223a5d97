import { readdirSync } from 'node:fs';
import { join } from 'node:path';

import { root, textOf } from './repository';

/*
 * The table in CONTRIBUTING.md says which tests prove each promise of the documents, so that nobody cuts the only proof
 * of a promise.
 */

/** The files that prove something but aren't tests of Jest. */
const others = ['demo.ts', 'versions/run.ts'];
const files = readdirSync(join(root, 'test'), { recursive: true, encoding: 'utf8' })
	.map((file) => file.replaceAll('\\', '/'))
	.filter((file) => file.endsWith('.test.ts') || others.includes(file));

const [, table = ''] = /^## Promises and proofs$(.*?)^## /ms.exec(textOf('CONTRIBUTING.md')) ?? [];

/** The rows of the table: a promise, the files that prove it, and the kinds of proof. */
const rows = [...table.matchAll(/^\| (.+) \| (`.+`) \| (.+) \|$/gm)].map(
	([, promise = '', proofs = '', kinds = '']) => ({
		promise,
		kinds,
		proofs: [...proofs.matchAll(/`(.+?)`/g)].map(([, name = '']) =>
			name.endsWith('.ts') ? name : `${name}.test.ts`,
		),
	}),
);

test('each file in the table of promises and proofs exists', () => {
	expect(rows.length).toBeGreaterThan(50);
	const missing = rows.filter(({ proofs }) => !proofs.every((file) => files.includes(file)));
	expect(missing).toEqual([]);
});

test('each test file proves a promise in the table', () => {
	const named = rows.flatMap(({ proofs }) => proofs);
	expect(files.filter((file) => !named.includes(file))).toEqual([]);
});
