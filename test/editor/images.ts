import { join } from 'node:path';

import type { Locator, Page } from 'playwright-core';

import { isNewest, running } from '../host/setUp';

/** Hides n8n's temporary notifications, the dots of its canvas, which compress badly, and rounded corners. */
const style = `
	.el-notification, .el-popper[role=tooltip], [data-test-id=canvas-background] {
		display: none !important;
	}
	[data-test-id=ndv] > *, :has(> [data-test-id=output-panel]) {
		border-radius: 0 !important;
	}`;

/**
 * Texts that differ in each run, and the texts that pictures show instead, so that a picture only changes with its
 * subject. The first different text is replaced by the first of `shown`, and so on.
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

/** Runs in the page, and replaces texts wherever they are shown, including input fields. */
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

/** The documentation shows the n8n of the host. */
const folder = isNewest
	? join(__dirname, '../../docs/images')
	: join(running().dataFolder, 'images');

/** Whether all images are loaded, except those that are only loaded when the user scrolls to them. */
const imagesAreThere =
	"Array.from(document.images).every((image) => image.complete || image.loading === 'lazy')";

/**
 * Takes a picture in the light theme, and one in the dark theme with the suffix `-dark`. They show the given parts, or
 * the whole page.
 */
export async function takePictures(page: Page, name: string, parts?: Locator[]): Promise<void> {
	await takePicture(page, name, parts);
	await page.emulateMedia({ colorScheme: 'dark' });
	await takePicture(page, `${name}-dark`, parts);
	await page.emulateMedia({ colorScheme: 'light' });
}

/** Takes a picture of the given parts, or of the whole page, for the documentation. */
export async function takePicture(page: Page, name: string, parts: Locator[] = []): Promise<void> {
	await page.mouse.move(0, 0);
	// After a change of the theme, other icons are loaded.
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

/** Returns the smallest box that contains all of these boxes. */
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
