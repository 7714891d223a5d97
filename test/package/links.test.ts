import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/*
 * No link leads nowhere: those of the pages to each other, to headings, to images and to files, and those that n8n
 * shows, which name this repository.
 */

const root = join(__dirname, '../..');
const ours = 'https://github.com/n8n-nodes-job-orchestration';
const repository = `${ours}/n8n-nodes-job-orchestration`;

const read = (path: string) => readFileSync(join(root, path), 'utf8');
const filesIn = (folder: string, ending: string) =>
	readdirSync(join(root, folder))
		.filter((name) => name.endsWith(ending))
		.map((name) => `${folder}/${name}`);

const pages = ['README.md', 'CONTRIBUTING.md', 'SECURITY.md', ...filesIn('docs', '.md')];
const others = [
	'credentials/JobOrchestrationApi.credentials.ts',
	'nodes/JobOrchestration/JobOrchestration.node.json',
	...filesIn('examples', '.json'),
];

const all = (text: string, pattern: RegExp): string[] =>
	[...text.matchAll(pattern)].map(([, found = '']) => found);

const withoutCode = (text: string) => text.replace(/^```.*?^```/gms, '');

/** What a page links or shows within this project. */
function linksOf(page: string): string[] {
	const text = withoutCode(read(page));
	const links = [
		...all(text, /\]\(([^)\s]+)\)/g),
		...all(text, /\b(?:src|srcset|href)="([^"\s]+)"/g),
	];
	return links.filter((link) => !/^\w+:/.test(link));
}

/** What any file names of this repository. */
const addressesIn = (path: string) =>
	all(read(path), /(https:\/\/[^\s)"'\\]+)/g).filter((address) => address.startsWith(ours));

/** The anchors of a page, made of its headings as GitHub does. */
function anchorsOf(page: string): string[] {
	return all(withoutCode(read(page)), /^#+ (.+)$/gm).map((heading) =>
		heading
			.toLowerCase()
			.replace(/[^\p{L}\p{N} _-]/gu, '')
			.replaceAll(' ', '-'),
	);
}

function isThere(path: string, anchor: string | undefined): boolean {
	if (!existsSync(join(root, path))) return false;
	return anchor === undefined || anchorsOf(path).includes(anchor);
}

function leadsSomewhere(page: string, link: string): boolean {
	const [path = '', anchor] = link.split('#');
	return isThere(path === '' ? page : join(dirname(page), path), anchor);
}

function isInRepository(address: string): boolean {
	if (!address.startsWith(repository)) return false;
	const [path = '', anchor] = address.slice(repository.length).split('#');
	if (path === '') return anchor === 'readme' || isThere('README.md', anchor);
	return path.startsWith('/blob/main/') && isThere(path.replace('/blob/main/', ''), anchor);
}

test.each(pages)('every link and every image of %s leads to what there is', (page) => {
	expect(linksOf(page).filter((link) => !leadsSomewhere(page, link))).toEqual([]);
	expect(addressesIn(page).filter((address) => !isInRepository(address))).toEqual([]);
});

test.each(others)('%s names pages of this repository, and none that is not there', (path) => {
	expect(addressesIn(path)).not.toEqual([]);
	expect(addressesIn(path).filter((address) => !isInRepository(address))).toEqual([]);
});

test('among the links that are followed are those to headings, and images for light and for dark', () => {
	expect(linksOf('README.md')).toEqual(
		expect.arrayContaining([
			'docs/examples.md#nightly-job',
			'docs/images/error.png',
			'docs/images/error-dark.png',
		]),
	);
	expect(linksOf('docs/examples.md')).toContain('#wait-for-room');
});
