import Fastify, { type FastifyInstance } from 'fastify';

import { Refusal } from '../service/refusal';
import { addPageRoutes } from '../page/pageRoutes';
import { addServiceRoutes, type RouteContext } from './routes';

const megabyte = 1024 * 1024;

/** Returns the Fastify application. It has the calls of the service, and the page that shows their effects. */
export function buildApp(context: RouteContext): FastifyInstance {
	const app = Fastify({
		bodyLimit: 16 * megabyte,
		exposeHeadRoutes: false,
		// Doesn't limit the IDs in a path further than Node.js does, which limits the size of the headers.
		routerOptions: { maxParamLength: 64 * 1024 },
		https: context.settings.tls ?? null,
		// Long, so that the server closes no idle connection at the moment at which a client sends a request.
		keepAliveTimeout: 72_000,
		forceCloseConnections: true,
	});
	readBodiesAsJson(app);
	const service = async (scope: FastifyInstance) => addServiceRoutes(scope, context);
	// Without a display name, Fastify searches all loaded modules for the plugin. In n8n's engine, these are thousands.
	void app.register(Object.assign(service, { [Symbol.for('fastify.display-name')]: 'service' }));
	addPageRoutes(app, context);
	return app;
}

/** Accepts only JSON bodies. An empty body counts as no body, whatever its content type is. */
function readBodiesAsJson(app: FastifyInstance): void {
	const parse = app.getDefaultJsonParser('ignore', 'ignore');
	app.removeAllContentTypeParsers();
	app.addContentTypeParser('application/json', { parseAs: 'string' }, (request, text, done) => {
		if (text === '') done(null, undefined);
		else void parse(request, String(text), done);
	});
	app.addContentTypeParser('*', { parseAs: 'string' }, (request, text, done) => {
		const type = request.headers['content-type'] ?? 'none';
		const reason = `body must be application/json, its type is ${type}`;
		done(text === '' ? null : new Refusal(415, 'bad_request', reason), undefined);
	});
}
