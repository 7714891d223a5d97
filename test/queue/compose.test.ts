import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

import { parse } from 'yaml';

/*
 * The compose file, as far as it can be checked without Docker: that it is well-formed, that all it refers to is
 * there, and that n8n knows each variable that it sets.
 */

interface Service {
	image: string;
	environment?: Record<string, string>;
	depends_on?: Record<string, unknown>;
	volumes?: string[];
}

interface Compose {
	services: Record<string, Service>;
	volumes: Record<string, unknown>;
}

const root = join(__dirname, '../..');
const text = readFileSync(join(root, 'examples', 'queue-mode', 'compose.yaml'), 'utf8');
const { services, volumes } = parse(text, { merge: true }) as Compose;
const ofN8n = Object.values(services).filter(({ image }) => image.includes('/n8n:'));

test("it runs the n8n that the tests run, in all of n8n's containers", () => {
	const { dependencies } = JSON.parse(readFileSync(join(root, 'host', 'package.json'), 'utf8')) as {
		dependencies: Record<string, string>;
	};
	expect(ofN8n).toHaveLength(3);
	expect(new Set(ofN8n.map(({ image }) => image.split(':')[1]))).toEqual(
		new Set([dependencies['n8n']]),
	);
});

test('what it refers to is there', () => {
	for (const { depends_on = {}, volumes: used = [] } of Object.values(services)) {
		expect(Object.keys(services)).toEqual(expect.arrayContaining(Object.keys(depends_on)));
		const named = used.map((volume) => volume.split(':')[0]).filter((name) => name !== '.');
		expect(Object.keys(volumes)).toEqual(expect.arrayContaining(named));
	}
});

test('n8n knows each variable that it sets', () => {
	const set = new Set(ofN8n.flatMap(({ environment = {} }) => Object.keys(environment)));
	const modules = join(root, 'host', 'node_modules');
	const sources = [
		...sourcesIn(join(modules, '@n8n', 'config', 'dist')),
		join(modules, 'n8n', 'dist', 'workflow-runner.js'),
	].map((path) => readFileSync(path, 'utf8'));
	const unknown = [...set].filter(
		(name) => !sources.some((source) => new RegExp(`\\b${name}\\b`).test(source)),
	);
	expect(set.size).toBeGreaterThan(10);
	expect(unknown).toEqual([]);
});

function sourcesIn(folder: string): string[] {
	return readdirSync(folder, { recursive: true, encoding: 'utf8' })
		.filter((name) => name.endsWith('.js'))
		.map((name) => join(folder, name));
}
