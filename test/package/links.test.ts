import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/*
 * Every link leads to an existing file or heading. This includes the links between the pages, to images and to files,
 * and the links to this repository that n8n shows.
 */

const root = join(__dirname, '../..');
const { homepage: repository } = JSON.parse(
	readFileSync(join(root, 'package.json'), 'utf8'),
) as Record<'homepage', string>;
const files = ['.', 'docs', 'credentials', 'nodes/JobOrchestration', 'examples'].flatMap((folder) =>
	readdirSync(join(root, folder))
		.filter((name) => /\.(md|credentials\.ts|node\.json)$/.test(name) || folder === 'examples')
		.filter((name) => name.includes('.') && name !== 'CHANGELOG.md')
		.map((name) => join(folder, name)),
);

const textOf = (path: string) =>
	readFileSync(join(root, path), 'utf8').replace(/^```.*?^```/gms, '');

/** Returns the files and headings of this repository to which a file links, relative to the root. */
function targetsOf(file: string): string[] {
	const text = textOf(file);
	const relative = file.endsWith('.md')
		? [...text.matchAll(/(?:\]\(|\b(?:src|srcset|href)=")([^)"\s]+)/g)]
				.map(([, link = '']) => link)
				.filter((link) => !/^\w+:/.test(link))
				.map((link) => (link.startsWith('#') ? file + link : join(dirname(file), link)))
		: [];
	const absolute = [
		...text.matchAll(/https:\/\/github\.com\/[\w-]+\/n8n-nodes-job-[^\s)"'\\]+/g),
	].map(([address]) =>
		address.replace(`${repository}/blob/main/`, '').replace(repository, 'README.md'),
	);
	return [...relative, ...absolute.map((target) => target.replace(/#readme$/, ''))];
}

/** Returns whether the file exists, and has a heading with this anchor, in GitHub's spelling. */
function isThere(target: string): boolean {
	const [path = '', anchor] = target.split('#');
	if (anchor === undefined || !existsSync(join(root, path))) return existsSync(join(root, path));
	const headings = [...textOf(path).matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) =>
		heading
			.toLowerCase()
			.replace(/[^\p{L}\p{N} _-]/gu, '')
			.replaceAll(' ', '-'),
	);
	return headings.includes(anchor);
}

test.each(files)(
	'every link and every image of %s leads to a file or heading that exists',
	(file) => {
		expect(targetsOf(file).filter((target) => !isThere(target))).toEqual([]);
	},
);

test('the test of links recognizes all kinds of links', () => {
	const all = files.flatMap(targetsOf);
	const some = ['docs/examples.md#nightly-job', 'docs/images/error-dark.png', 'README.md'];
	expect(all).toEqual(expect.arrayContaining([...some, 'README.md#credential']));
});
