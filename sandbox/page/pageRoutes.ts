import type { FastifyInstance } from 'fastify';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import type { RouteContext } from '../http/routes';
import { snapshot } from './snapshot';

const html = readFileSync(join(__dirname, 'page.html'), 'utf8');

/** The page runs its own script and style only, and talks to this server only. */
const policy = [
	"default-src 'none'",
	"style-src 'unsafe-inline'",
	"script-src 'unsafe-inline'",
	"connect-src 'self'",
	'img-src data:',
	"base-uri 'none'",
	"form-action 'none'",
	"frame-ancestors 'none'",
].join('; ');

/** Adds the page at `/`, and what it asks for every second. */
export function addPageRoutes(app: FastifyInstance, context: RouteContext): void {
	app.get('/', async (_request, reply) => {
		return await reply
			.header('content-type', 'text/html; charset=utf-8')
			.header('content-security-policy', policy)
			.header('x-content-type-options', 'nosniff')
			.send(html);
	});
	app.get('/page/snapshot', async (_request, reply) => {
		return await reply.header('cache-control', 'no-store').send(snapshot(context));
	});
}
