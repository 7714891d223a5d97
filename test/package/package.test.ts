import { execFileSync } from 'node:child_process';

import { operations } from '../support/operations';
import { loadPackage } from '../support/packageUnderTest';
import { root, textOf } from './repository';

/*
 * The package contains all that n8n needs and nothing else, and its descriptions name all operations.
 */

const manifest = JSON.parse(textOf('package.json')) as {
	n8n: { nodes: string[]; credentials: string[] };
};

interface Packed {
	filename: string;
	files: Array<{ path: string; size: number }>;
}

/** The files that `npm pack` would include. */
let packed: Packed;
beforeAll(() => {
	const [result] = JSON.parse(
		execFileSync('npm', ['pack', '--dry-run', '--json'], { cwd: root, encoding: 'utf8' }),
	) as Packed[];
	if (result === undefined) throw new Error('npm pack says nothing');
	packed = result;
});

test('the package contains only dist (less than 250 kB), README.md, the licence and package.json', () => {
	const { files } = packed;
	const expected = [
		/^dist\/.*\.(js|svg|node\.json)$/,
		/^dist\/nodes\/JobOrchestration\/__schema__\/v1\.0\.0\/\w+\/\w+\.json$/,
		/^(README\.md|LICENSE\.md|package\.json)$/,
	];
	const others = files.filter(({ path }) => !expected.some((names) => names.test(path)));
	expect(others).toEqual([]);
	const inDist = files.filter(({ path }) => path.startsWith('dist/'));
	expect(inDist.reduce((total, { size }) => total + size, 0)).toBeLessThan(250_000);
});

test('README.md names the file that npm pack creates', () => {
	expect(textOf('README.md')).toContain(`docker cp ${packed.filename} `);
});

test('the package contains all files that n8n reads: node, credential, codex, icons and schemas', async () => {
	const folder = 'dist/nodes/JobOrchestration';
	const schemas = operations.map(
		({ resource, value }) => `${folder}/__schema__/v1.0.0/${resource}/${value}.json`,
	);
	const { nodes, credentials } = manifest.n8n;
	const { node, credentialType } = await loadPackage();
	const icons = [node.description, credentialType('jobOrchestrationApi')].flatMap(({ iconUrl }) =>
		Object.values(Object(iconUrl) as Record<'light' | 'dark', string>),
	);
	expect(new Set(icons).size).toBeGreaterThan(1);
	const inPackage = icons.map((url) => url.replace('icons/n8n-nodes-job-orchestration/', ''));
	const named = [...nodes, ...credentials, `${folder}/JobOrchestration.node.json`];
	const paths = packed.files.map(({ path }) => path);
	expect(paths).toEqual(expect.arrayContaining([...named, ...inPackage, ...schemas]));
});

test("README.md and the node's description name all operations on jobs", async () => {
	const { node } = await loadPackage();
	const [introduction] = textOf('README.md').split('\n## ');
	const verbs = operations.filter(({ resource }) => resource === 'job').map(({ value }) => value);
	for (const text of [introduction, node.description.description]) {
		for (const verb of verbs) expect(text?.toLowerCase()).toMatch(new RegExp(`\\b${verb}`));
	}
});

test('the package has no runtime dependency', () => {
	expect(manifest).not.toHaveProperty('dependencies');
	expect(manifest).toMatchObject({ peerDependencies: { 'n8n-workflow': '*' } });
});

test('the package loads only its own files, n8n-workflow and node:crypto, and does not read the environment', () => {
	const files = packed.files.map(({ path }) => path).filter((path) => path.endsWith('.js'));
	expect(files.length).toBeGreaterThan(30);
	for (const file of files) {
		const code = textOf(file);
		for (const [, name] of code.matchAll(/\b(?:require|import)\(\s*(.*?)\s*\)/g))
			expect(name).toMatch(/^["'](\.{1,2}\/.*|n8n-workflow|node:crypto)["']$/);
		expect(code).not.toMatch(/\bprocess\b|\bglobalThis\b/);
	}
});
