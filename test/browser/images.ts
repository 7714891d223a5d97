import { join } from 'node:path';

import type { Locator, Page } from 'playwright-core';

import { handed } from './running';

/** What pictures do without: n8n's passing notices, and the dots of its canvas, which compress badly. */
const notForPictures = `
	.el-notification, .el-popper[role=tooltip], [data-test-id=canvas-background] {
		display: none !important;
	}`;

/** Takes a picture for the docs: of the parts named, or of the page. */
export async function takePicture(page: Page, name: string, parts: Locator[] = []): Promise<void> {
	const boxes = await Promise.all(parts.map(async (part) => await part.boundingBox()));
	await page.screenshot({
		path: join(handed().images, `${name}.png`),
		animations: 'disabled',
		caret: 'hide',
		style: notForPictures,
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
