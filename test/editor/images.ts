import { join } from 'node:path';

import type { Locator, Page } from 'playwright-core';

import { isNewest, running } from '../host/setUp';

/** What pictures do without: n8n's passing notices, the dots of its canvas, which compress badly, and round corners. */
const style = `
	.el-notification, .el-popper[role=tooltip], [data-test-id=canvas-background] {
		display: none !important;
	}
	[data-test-id=ndv] > *, :has(> [data-test-id=output-panel]) {
		border-radius: 0 !important;
	}`;

/**
 * What is another at each run, and what pictures show in its place, so that they change only with what they are
 * about: the first text for what comes first, the next for what differs from it.
 */
const steady: Array<{ changing: string; shown: string[] }> = [
	{ changing: '(?<=127\\.0\\.0\\.1:)\\d+', shown: ['8765'] },
	{
		changing: '[\\da-f]{8}(-[\\da-f]{4}){3}-[\\da-f]{12}',
		shown: ['4f0c2a5e-8d3b-4a17-9c61-2b7e5d90f1aa', 'b21d9e07-5c4f-4e68-8a3b-70f6c1d2e945'],
	},
	{
		changing: `${new Date().getFullYear()}-\\d\\d-\\d\\dT[\\d:.]+Z`,
		shown: ['2026-01-05T09:30:00.000Z'],
	},
	{ changing: '\\d\\d:\\d\\d:\\d\\d\\.\\d{3}, .+', shown: ['09:30:00.000, 5 Jan'] },
	{ changing: '(?<=^|\\s)[\\d.]+m?s$', shown: ['50ms'] },
	{ changing: '(?<=^Session: )[\\da-f]+', shown: ['4f0c2'] },
];

/** Runs in the page: replaces texts wherever they are shown, in fields too. */
const replaceTexts = `(steady) => {
	const kinds = steady.map((kind) => ({ ...kind, known: new Map() }));
	const replaceKind = (text, { changing, shown, known }) =>
		text.replace(new RegExp(changing, 'g'), (found) => {
			if (!known.has(found)) known.set(found, shown[known.size % shown.length]);
			return known.get(found);
		});
	const steadied = (text) => kinds.reduce(replaceKind, text);
	const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
	while (texts.nextNode()) texts.currentNode.data = steadied(texts.currentNode.data);
	for (const field of document.querySelectorAll('input')) field.value = steadied(field.value);
}`;

/** The docs show the host's n8n. */
const folder = isNewest
	? join(__dirname, '../../docs/images')
	: join(running().dataFolder, 'images');

/** Whether all images have come that are not left until somebody scrolls to them. */
const imagesAreThere =
	"Array.from(document.images).every((image) => image.complete || image.loading === 'lazy')";

/** Takes a picture in the light theme and one in the dark, which is named so: of the parts named, or of the page. */
export async function takePictures(page: Page, name: string, parts?: Locator[]): Promise<void> {
	await takePicture(page, name, parts);
	await page.emulateMedia({ colorScheme: 'dark' });
	await takePicture(page, `${name}-dark`, parts);
	await page.emulateMedia({ colorScheme: 'light' });
}

/** Takes a picture for the docs: of the parts named, or of the page. */
export async function takePicture(page: Page, name: string, parts: Locator[] = []): Promise<void> {
	await page.mouse.move(0, 0);
	// The other theme has other icons.
	await page.waitForFunction(imagesAreThere);
	await page.evaluate(`(${replaceTexts})(${JSON.stringify(steady)})`);
	const boxes = await Promise.all(parts.map(async (part) => await part.boundingBox()));
	await page.screenshot({
		path: join(folder, `${name}.png`),
		animations: 'disabled',
		caret: 'hide',
		style,
		...(parts.length > 0 && { clip: around(boxes) }),
	});
}

type Box = NonNullable<Awaited<ReturnType<Locator['boundingBox']>>>;

/** The smallest box that all of these lie in. */
function around(boxes: Array<Box | null>): Box {
	const seen = boxes.filter((box) => box !== null);
	const x = Math.min(...seen.map((box) => box.x));
	const y = Math.min(...seen.map((box) => box.y));
	return {
		x,
		y,
		width: Math.max(...seen.map((box) => box.x + box.width)) - x,
		height: Math.max(...seen.map((box) => box.y + box.height)) - y,
	};
}
