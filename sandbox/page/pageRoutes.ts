import type { FastifyInstance } from 'fastify';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import type { RouteContext } from '../http/routes';
import { jobDetails } from './jobDetails';
import { snapshot } from './snapshot';

/** What the page is made of: its address, the file, and what that is. */
const files = [
	['/', 'page.html', 'text/html'],
	['/page/page.css', 'page.css', 'text/css'],
	['/page/page.js', 'page.js', 'text/javascript'],
	['/page/elements.js', 'elements.js', 'text/javascript'],
] as const;

/** The page runs its own script and style only, and talks to this server only. */
const policy = [
	"default-src 'none'",
	"style-src 'self'",
	"script-src 'self'",
	"connect-src 'self'",
	'img-src data:',
	"base-uri 'none'",
	"form-action 'none'",
	"frame-ancestors 'none'",
].join('; ');

/** Adds the page at `/`, and what it asks for every second. */
export function addPageRoutes(app: FastifyInstance, context: RouteContext): void {
	for (const [url, name, type] of files) {
		const text = readFileSync(join(__dirname, name), 'utf8');
		app.get(url, async (_request, reply) => {
			return await reply
				.header('content-type', `${type}; charset=utf-8`)
				.header('content-security-policy', policy)
				.header('x-content-type-options', 'nosniff')
				.send(text);
		});
	}
	app.get('/page/snapshot', async (_request, reply) => {
		return await reply.header('cache-control', 'no-store').send(snapshot(context));
	});
	app.get<{ Params: { uid: string } }>('/page/jobs/:uid', async ({ params }, reply) => {
		const details = jobDetails(context.service, params.uid);
		return await reply
			.header('cache-control', 'no-store')
			.code(details ? 200 : 404)
			.send(details ?? {});
	});
}
