import type { FastifyError, FastifyInstance, FastifyRequest } from 'fastify';
import { setTimeout as sleep } from 'node:timers/promises';

import { compileCheck, inWords } from '../contract/checks';
import {
	contractOperation,
	contractOperations,
	type ContractOperation,
} from '../contract/contract';
import type { Fault } from '../faults/fault';
import type { FaultPlan } from '../faults/faultPlan';
import { strike } from '../faults/strike';
import type { Limits } from '../limits/limits';
import type { SandboxSettings } from '../options';
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
 * Adds a route for each operation of the contract. All other requests get a 404.
 *
 * A call passes these stages: it is recorded; the limits are applied; the faults that strike first strike; the token is
 * checked; the request is compared with the contract; the service processes the call; the latency passes; the faults
 * that strike afterwards strike; the response is sent. The limits don't apply to a login and an unknown call.
 */
export function addServiceRoutes(app: FastifyInstance, context: RouteContext): void {
	const { faults, limits, record, settings } = context;
	const { tokens } = context.service;
	const open = new WeakMap<FastifyRequest, OpenCall>();

	app.addHook('onRequest', async (request, reply) => {
		const call = callFrom(request);
		record.add(call);
		open.set(request, { call, faults: [] });
		if (call.operation === 'login' || call.operation === 'unknown') return;
		limits.take();
		const leave = await limits.enter();
		if (request.raw.socket.destroyed) leave();
		else reply.raw.once('close', leave);
	});

	app.setErrorHandler<FastifyError | Refusal>((error, request, reply) => {
		const { status, headers, body } = error instanceof Refusal ? error : refusalFrom(error);
		const current = open.get(request);
		if (current) current.call.reason = body.message;
		if (status === 401) reply.header('www-authenticate', 'Bearer');
		return reply.code(status).headers(headers).send(body);
	});

	app.addHook('preValidation', async (request, reply) => {
		const current = open.get(request);
		if (current === undefined) return;
		current.call.body = request.body;
		const planned = faults.next(current.call);
		const forced = await strike(planned, 'beforeActing', { reply, tokens });
		if (forced) return await reply.code(forced.status).headers(forced.headers).send(forced.body);
		current.faults = planned;
		const { operation, token } = current.call;
		if (operation !== 'unknown' && contractOperation(operation).needsToken) tokens.check(token);
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
		return body;
	});

	for (const operation of contractOperations) addRoute(app, operation, context);

	app.setNotFoundHandler((request) => {
		const { method, path } = callFrom(request);
		throw new Refusal(404, 'no_such_call', `There is no call ${method} ${path}`);
	});
}

function addRoute(app: FastifyInstance, operation: ContractOperation, context: RouteContext) {
	app.route({
		method: operation.method,
		url: context.settings.pathPrefix + operation.path.replaceAll(/\{(\w+)\}/g, ':$1'),
		config: { operation: operation.id },
		// A copy, because Fastify modifies the schema of a route.
		schema: { ...operation.request },
		validatorCompiler: ({ schema, httpPart }) => compileCheck(schema, httpPart),
		handler: async (request, reply) => {
			const { params, query, body } = request;
			return await reply.send(context.service.do(operation.id, { params, query, body }));
		},
	});
}

/** Returns the refusal for an error that Fastify has thrown. */
function refusalFrom({ statusCode = 500, message, ...error }: FastifyError): Refusal {
	if (statusCode >= 500) return new Refusal(500, 'internal', message);
	const { validation, validationContext = '' } = error;
	const wrong = validation ? inWords(validation, validationContext) : message;
	return new Refusal(statusCode, 'bad_request', wrong);
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
	}
}
