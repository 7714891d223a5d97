import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { setTimeout as sleep } from 'node:timers/promises';

import { compileCheck, inWords } from '../contract/checks';
import { contractOperations, type ContractOperation } from '../contract/contract';
import type { Fault } from '../faults/fault';
import type { FaultPlan } from '../faults/faultPlan';
import { forcedAnswer, strike } from '../faults/strike';
import type { Limits } from '../limits/limits';
import type { SandboxSettings } from '../options';
import { answersToExpired } from '../service/expiry';
import { Refusal } from '../service/refusal';
import type { Service } from '../service/service';
import type { Call, CalledOperation, CallRecord } from './calls';

/** A call whose response hasn't been sent. */
interface OpenCall {
	call: Call;
	/**
	 * The faults of the call; empty until its faults that strike first have struck. Those that strike afterwards also
	 * strike if the sandbox has refused the call in the meantime.
	 */
	faults: readonly Fault[];
	/** Ends the call for the limit `atOnce`, so that the next waiting call can start. */
	leave: () => void;
}

/** The parts of a sandbox that the routes use. */
export interface RouteContext {
	service: Service;
	faults: FaultPlan;
	limits: Limits;
	record: CallRecord;
	settings: SandboxSettings;
}

/**
 * Adds a route for each operation of the contract, and a route that responds with a 404 to all other requests.
 *
 * A call passes these stages: it is recorded; the limits are applied; the faults that strike first strike; the token is
 * checked; the request is compared with the contract; the service processes the call; the latency passes; the faults
 * that strike afterwards strike; the response is sent. The limits don't apply to a login and an unknown call.
 */
export function addServiceRoutes(app: FastifyInstance, context: RouteContext): void {
	const { faults, limits, record, settings } = context;
	const { tokens } = context.service;
	const open = new WeakMap<FastifyRequest, OpenCall>();

	app.addHook('onRequest', async (request) => {
		const call = callFrom(request);
		record.add(call);
		const current: OpenCall = { call, faults: [], leave: () => {} };
		open.set(request, current);
		if (call.operation === 'login' || call.operation === 'unknown') return;
		limits.take();
		const leave = await limits.enter();
		const { socket } = request.raw;
		if (socket.destroyed) leave();
		else socket.once('close', leave);
		current.leave = () => {
			socket.off('close', leave);
			leave();
		};
	});

	app.addHook('onResponse', async (request) => open.get(request)?.leave());

	app.addHook('preValidation', async (request, reply) => {
		const current = open.get(request);
		if (current === undefined) return;
		current.call.body = request.body;
		const planned = faults.next(current.call);
		const forced = await strike(planned, 'beforeActing', { reply, tokens });
		if (forced) return await reply.code(forced.status).headers(forced.headers).send(forced.body);
		current.faults = planned;
		const { needsToken, takesBody } = request.routeOptions.config;
		const { token } = current.call;
		if (needsToken && token !== undefined && settings.expiry !== '401' && !tokens.isGood(token)) {
			const { status, headers, body } = forcedAnswer(answersToExpired[settings.expiry]);
			return await reply.code(status).headers(headers).send(body);
		}
		if (needsToken) tokens.check(token);
		if (!takesBody && request.body !== undefined) {
			throw new Refusal(400, 'bad_request', 'body is not expected, this call takes none');
		}
	});

	app.addHook('onSend', async (request, reply, payload) => {
		if (settings.latency > 0) await sleep(settings.latency, undefined, { ref: false });
		const current = open.get(request);
		if (current === undefined) return payload;
		let body = payload;
		// A response can't be replaced if the client has closed the connection, or if the headers have been sent.
		if (!reply.raw.headersSent && !request.raw.socket.destroyed) {
			const forced = await strike(current.faults, 'afterActing', { reply, tokens, body });
			if (forced) {
				for (const name of Object.keys(reply.getHeaders())) reply.removeHeader(name);
				reply.code(forced.status).headers(forced.headers);
				({ body } = forced);
			}
		}
		current.call.status = reply.statusCode;
		current.call.reason = reasonIn(reply.statusCode, body);
		return body;
	});

	for (const operation of contractOperations) addRoute(app, operation, context);

	app.route({
		method: ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS'],
		url: '/*',
		config: { operation: 'unknown', needsToken: false, takesBody: true },
		handler: (request) => {
			const { method, path } = callFrom(request);
			throw new Refusal(404, 'no_such_call', `There is no call ${method} ${path}`);
		},
	});
}

function addRoute(app: FastifyInstance, operation: ContractOperation, context: RouteContext) {
	app.route({
		method: operation.method,
		url: context.settings.pathPrefix + operation.path.replaceAll(/\{(\w+)\}/g, ':$1'),
		config: {
			operation: operation.id,
			needsToken: operation.needsToken,
			takesBody: operation.request.body !== undefined,
		},
		// A copy, because Fastify modifies the schema of a route.
		schema: { ...operation.request },
		validatorCompiler: ({ schema, httpPart }) => compileCheck(schema, httpPart),
		handler: async (request, reply) => {
			const { params, query, body } = request;
			return await reply.send(context.service.do(operation.id, { params, query, body }));
		},
	});
}

/** Sends the error response for an error that the sandbox or Fastify has thrown. */
export function answerError(error: unknown, reply: FastifyReply): FastifyReply {
	const refusal = error instanceof Refusal ? error : refusalFrom(error as FastifyError);
	if (refusal.status === 401) reply.header('www-authenticate', 'Bearer');
	return reply.code(refusal.status).headers(refusal.headers).send(refusal.body);
}

function refusalFrom({ statusCode = 500, message, ...error }: FastifyError): Refusal {
	if (statusCode >= 500) return new Refusal(500, 'internal', message);
	const { validation, validationContext = '' } = error;
	const wrong = validation ? inWords(validation, validationContext) : message;
	return new Refusal(statusCode, 'bad_request', wrong);
}

/** Returns the message in the body of an error response, or undefined if there is none. */
function reasonIn(status: number, body: unknown): string | undefined {
	if (status < 400 || typeof body !== 'string') return undefined;
	try {
		const { message } = (JSON.parse(body) ?? {}) as { message?: unknown };
		return typeof message === 'string' ? message : undefined;
	} catch {
		return undefined;
	}
}

/** Records and refuses a request whose path isn't percent-encoded correctly. Fastify routes no such request. */
export function refuseUrl(record: CallRecord, request: FastifyRequest, reply: FastifyReply): void {
	const call = callFrom(request);
	const reason = `The path ${call.path} is not percent-encoded properly`;
	const { status, body } = new Refusal(400, 'bad_request', reason);
	record.add({ ...call, status, reason });
	void reply.code(status).send(body);
}

function callFrom(request: FastifyRequest): Call {
	const [path = ''] = request.raw.url?.split('?', 1) ?? [];
	return {
		operation: request.routeOptions.config.operation ?? 'unknown',
		method: request.method,
		path,
		query: { ...(request.query as Record<string, unknown>) },
		body: undefined,
		token: /^Bearer (.+)$/i.exec(request.headers.authorization ?? '')?.[1],
		status: undefined,
		reason: undefined,
		at: Date.now(),
	};
}

declare module 'fastify' {
	interface FastifyContextConfig {
		operation?: CalledOperation;
		needsToken?: boolean;
		takesBody?: boolean;
	}
}
