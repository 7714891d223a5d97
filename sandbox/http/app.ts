import Fastify, { type FastifyInstance } from 'fastify';

import { Refusal } from '../service/refusal';
import { addPageRoutes } from '../page/pageRoutes';
import { addServiceRoutes, answerError, refuseUrl, type RouteContext } from './routes';

const megabyte = 1024 * 1024;

/** The web application: the service's calls, and the page that shows what they did. */
export function buildApp(context: RouteContext): FastifyInstance {
	const app = Fastify({
		bodyLimit: 16 * megabyte,
		exposeHeadRoutes: false,
		// An id in a path can be as long as the server takes a request's head.
		routerOptions: { maxParamLength: 64 * 1024 },
		https: context.settings.tls ?? null,
		// An idle connection is kept for long, so that none closes while a client uses it.
		keepAliveTimeout: 72_000,
		forceCloseConnections: true,
		frameworkErrors: (_error, request, reply) => refuseUrl(context.record, request, reply),
	});
	app.setErrorHandler((error, _request, reply) => answerError(error, reply));
	readBodiesAsJson(app);
	const service = async (scope: FastifyInstance) => addServiceRoutes(scope, context);
	// Fastify looks for the name of a plugin that has none among all modules, thousands where n8n's engine runs.
	void app.register(Object.assign(service, { [Symbol.for('fastify.display-name')]: 'service' }));
	addPageRoutes(app, context);
	return app;
}

/** An empty body counts as none, whatever its type; any other must be JSON. */
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
