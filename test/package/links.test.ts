import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';

import { filesIn, root, textOf } from './repository';

/*
 * Every link leads to an existing file or heading. This includes the links between the pages, to images and to files,
 * and the links to this repository that n8n shows.
 */

const { homepage: repository } = JSON.parse(textOf('package.json')) as { homepage: string };
const withLinks = /^(?!CHANGELOG).*\.(md|credentials\.ts|node\.json)$/;
const files = [
	...['.', 'docs', 'credentials', 'nodes/JobOrchestration'].flatMap((folder) =>
		filesIn(folder, withLinks),
	),
	...filesIn('examples', /\./),
];

const withoutCode = (path: string) => textOf(path).replace(/^```.*?^```/gms, '');

/** Returns the files and headings of this repository to which a file links, relative to the root. */
function targetsOf(file: string): string[] {
	const text = withoutCode(file);
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
	const headings = [...withoutCode(path).matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) =>
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
