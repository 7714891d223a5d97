import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

import type { INodeProperties, INodePropertyCollection, INodePropertyOptions } from 'n8n-workflow';

import { loadPackage, NODE_TYPE } from '../engine/packageUnderTest';

/*
 * The notes of the examples: they say what to fill in, in the form's words, so they must not name a node or
 * a field that isn't there, nor link a page that isn't.
 */

const root = join(__dirname, '../..');
const files = readdirSync(join(root, 'examples')).filter((name) => name.endsWith('.json'));
const docs =
	'https://github.com/n8n-nodes-job-orchestration/n8n-nodes-job-orchestration/blob/main/';

interface Example {
	nodes: Array<{ name: string; type: string; parameters: { content?: string } }>;
}

function read(file: string): Example {
	return JSON.parse(readFileSync(join(root, 'examples', file), 'utf8')) as Example;
}

function noteOf({ nodes }: Example): string {
	const note = nodes.find(({ type }) => type === 'n8n-nodes-base.stickyNote');
	return note?.parameters.content ?? '';
}

const all = (text: string, pattern: RegExp): string[] =>
	[...text.matchAll(pattern)].map(([, found = '']) => found);

/** What a note puts in *single* and in **double** asterisks. */
const nodesNamed = (text: string): string[] => all(text, /(?<!\*)\*([^*\n]+)\*(?!\*)/g);
const fieldsNamed = (text: string): string[] => all(text, /\*\*([^*\n]+)\*\*/g);

/** Every label of the node's form, at any depth. */
function labels(
	fields: ReadonlyArray<INodeProperties | INodePropertyCollection | INodePropertyOptions>,
): string[] {
	return fields.flatMap((field) => {
		const inner = 'values' in field ? field.values : 'options' in field ? field.options : [];
		const label = 'displayName' in field ? [field.displayName] : [];
		return [...label, ...labels(inner ?? [])];
	});
}

describe.each(files)('The note of %s', (file) => {
	const example = read(file);
	const note = noteOf(example);
	const names = example.nodes.map(({ name }) => name);

	it('says what to fill in, in which nodes', () => {
		expect(note).toMatch(/\n\*\*Fill in\*\*\n(-|1\.) /);
		const fillIn = note.split('**Fill in**')[1] ?? '';
		expect(nodesNamed(fillIn).length).toBeGreaterThan(0);
		const others = nodesNamed(fillIn).filter((name) => !names.includes(name));
		expect(others).toEqual([]);
	});

	it("names this package's fields as the form does", async () => {
		const { node } = await loadPackage();
		const known = [...labels(node.description.properties), 'Credential'];
		const typeOf = new Map(example.nodes.map(({ name, type }) => [name, type]));
		const lines = note.split('\n').filter((line) => {
			const [name = ''] = nodesNamed(line);
			return /^(-|\d\.) \*/.test(line) && typeOf.get(name)?.startsWith(NODE_TYPE);
		});
		expect(lines.flatMap(fieldsNamed).filter((field) => !known.includes(field))).toEqual([]);
	});

	it('links its page, which names the example', () => {
		const [page = ''] = all(note, /\]\(([^)#]+)[^)]*\)/g);
		expect(page.startsWith(docs)).toBe(true);
		const path = join(root, page.slice(docs.length));
		expect(existsSync(path)).toBe(true);
		expect(readFileSync(path, 'utf8')).toContain(`(../examples/${file})`);
	});

	it('is of an example that README lists', () => {
		const readme = readFileSync(join(root, 'README.md'), 'utf8');
		expect(readme).toContain(`| [${file.replace('.json', '')}](docs/`);
	});
});
