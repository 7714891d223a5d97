import type { FastifyInstance } from 'fastify';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import type { RouteContext } from '../http/routes';
import { jobDetails } from './jobDetails';
import { snapshot } from './snapshot';

/** The files of the page: the URL path, the content type and the file. */
const files = [
	['/', 'text/html', join(__dirname, 'page.html')],
	['/page/page.css', 'text/css', join(__dirname, 'page.css')],
	['/page/page.js', 'text/javascript', join(__dirname, 'page.js')],
	['/page/lit-html.js', 'text/javascript', require.resolve('lit-html')],
] as const;

/** Allows the page only the scripts, styles and requests of this server. */
const policy =
	"default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; img-src data:; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/** Adds the page at `/`, the snapshot that the page requests every second, and the details of a job. */
export function addPageRoutes(app: FastifyInstance, context: RouteContext): void {
	for (const [url, type, path] of files) {
		const text = readFileSync(path, 'utf8');
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
