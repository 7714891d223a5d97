import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const root = join(__dirname, '../..');

interface Packed {
	unpackedSize: number;
	files: Array<{ path: string }>;
}

/** What `npm pack` would ship. */
let packed: Packed;
beforeAll(() => {
	const [result] = JSON.parse(
		execFileSync('npm', ['pack', '--dry-run', '--json'], { cwd: root, encoding: 'utf8' }),
	) as Packed[];
	if (result === undefined) throw new Error('npm pack says nothing');
	packed = result;
});

test('the package ships dist, README, licence and package.json only, in less than 200 kB', () => {
	const { files, unpackedSize } = packed;
	const others = files
		.map(({ path }) => path)
		.filter(
			(path) =>
				!/^(dist\/.*\.(js|svg|node\.json)|dist\/nodes\/JobOrchestration\/__schema__\/v1\.0\.0\/\w+\/\w+\.json|README\.md|LICENSE\.md|package\.json)$/.test(
					path,
				),
		);
	expect(others).toEqual([]);
	expect(unpackedSize).toBeLessThan(200_000);
});

test('all that package.json names for n8n is in the package', () => {
	const { n8n } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
		n8n: { nodes: string[]; credentials: string[] };
	};
	const paths = packed.files.map(({ path }) => path);
	expect(paths).toEqual(expect.arrayContaining([...n8n.nodes, ...n8n.credentials]));
});

test('the package has no runtime dependency', () => {
	const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as object;
	expect(manifest).not.toHaveProperty('dependencies');
	expect(manifest).toMatchObject({ peerDependencies: { 'n8n-workflow': '*' } });
});
