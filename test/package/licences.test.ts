import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const root = join(__dirname, '../..');

function read<Content>(...path: string[]): Content {
	return JSON.parse(readFileSync(join(root, ...path), 'utf8')) as Content;
}

test('docs/licences.md has every dev dependency with its licence, and nothing else', () => {
	const { devDependencies } = read<{ devDependencies: object }>('package.json');
	const rows = Object.keys(devDependencies).map((name) => {
		const { license } = read<{ license: string }>('node_modules', name, 'package.json');
		const words =
			license === 'SEE LICENSE IN LICENSE.md' ? 'Sustainable Use License (n8n)' : license;
		return `| ${name} | ${words} |`;
	});
	const page = readFileSync(join(root, 'docs/licences.md'), 'utf8');
	expect(
		page
			.split('\n')
			.filter((line) => line.startsWith('| '))
			.slice(2),
	).toEqual(rows);
});
