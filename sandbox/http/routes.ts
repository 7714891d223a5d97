import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';

import { compileCheck, requestSchemas } from '../contract/checks';
import { contractOperations, type ContractOperation } from '../contract/contract';
import { explain } from '../contract/explain';
import type { Fault } from '../faults/fault';
import type { FaultPlan } from '../faults/faultPlan';
import type { Limits } from '../limits/limits';
import type { SandboxSettings } from '../options';
import { Refusal } from '../service/refusal';
import type { Service } from '../service/service';
import { reasonIn, type Call, type CalledOperation, type CallRecord } from './calls';
import { strikeAfter, strikeBefore } from './faultHooks';

/** What is known of a call while it is under way. */
interface UnderWay {
	call: Call;
	/** Those that may strike once it has taken effect; none while it has not come that far. */
	faults: readonly Fault[];
	/** Gives its place back. */
	leave: () => void;
}

/** What the routes need. */
export interface RouteContext {
	service: Service;
	faults: FaultPlan;
	limits: Limits;
	record: CallRecord;
	settings: SandboxSettings;
}

/**
 * Adds a route for each call of the contract, and one for everything else.
 *
 * A call goes through: recording, the limits, faults that strike first, the token, the contract's check, the
 * service, faults that strike afterwards, the answer.
 */
export function addServiceRoutes(app: FastifyInstance, context: RouteContext): void {
	const { service, faults, limits, record, settings } = context;
	const underWay = new WeakMap<FastifyRequest, UnderWay>();

	app.addHook('onRequest', async (request) => {
		const call = callFrom(request);
		record.add(call);
		const isLimited = call.operation !== 'login' && call.operation !== 'unknown';
		const current: UnderWay = { call, faults: [], leave: () => {} };
		underWay.set(request, current);
		if (!isLimited) return;
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

	app.addHook('onResponse', async (request) => underWay.get(request)?.leave());

	app.addHook('preValidation', async (request, reply) => {
		const current = underWay.get(request);
		if (current === undefined) return;
		current.call.body = request.body;
		const planned = faults.next(current.call);
		if (await strikeBefore(planned, service.tokens, request, reply)) return reply;
		current.faults = planned;
		if (request.routeOptions.config.needsToken) service.tokens.check(current.call.token);
		if (!request.routeOptions.config.takesBody && request.body !== undefined) {
			throw new Refusal(400, 'bad_request', 'body is not expected, this call takes none');
		}
	});

	app.addHook('onSend', async (request, reply, payload) => {
		if (settings.latency > 0) await elapsed(settings.latency);
		const current = underWay.get(request);
		if (current === undefined) return payload;
		const body = await strikeAfter(current.faults, request, reply, payload);
		current.call.status = reply.statusCode;
		current.call.reason = reasonIn(reply.statusCode, body);
		return body;
	});

	for (const operation of contractOperations) addRoute(app, operation, service, settings);

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

function addRoute(
	app: FastifyInstance,
	operation: ContractOperation,
	service: Service,
	{ pathPrefix }: SandboxSettings,
): void {
	app.route({
		method: operation.method,
		url: pathPrefix + operation.path.replaceAll(/\{(\w+)\}/g, ':$1'),
		config: {
			operation: operation.id,
			needsToken: operation.needsToken,
			takesBody: operation.body !== undefined,
		},
		schema: requestSchemas(operation),
		validatorCompiler: ({ schema, httpPart }) => compileCheck(schema, httpPart),
		handler: async (request, reply) => {
			const { params, query, body } = request;
			return await reply.send(service.do(operation.id, { params, query, body }));
		},
	});
}

/** Makes an answer of whatever was thrown. */
export function answerError(error: unknown, reply: FastifyReply): FastifyReply {
	const refusal = error instanceof Refusal ? error : refusalFrom(error);
	if (refusal.status === 401) reply.header('www-authenticate', 'Bearer');
	return reply.code(refusal.status).headers(refusal.headers).send(refusal.body);
}

function refusalFrom(error: unknown): Refusal {
	if (!(error instanceof Error)) return new Refusal(500, 'internal', String(error));
	const { validation, validationContext, statusCode } = error as FailedCheck;
	if (validation) {
		const part = partNames[validationContext ?? ''] ?? 'body';
		return new Refusal(400, 'bad_request', explain(part, validation));
	}
	return statusCode !== undefined && statusCode < 500
		? new Refusal(statusCode, 'bad_request', error.message)
		: new Refusal(500, 'internal', error.message);
}

/** An error that Fastify threw, perhaps because a check failed. */
interface FailedCheck extends Error {
	validation?: Parameters<typeof explain>[1];
	validationContext?: string;
	statusCode?: number;
}

const partNames: Record<string, string> = { params: 'path', querystring: 'query' };

/** A call whose path is not even percent-encoded properly; it reaches no route. */
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

/** Resolves after so many milliseconds; does not keep the process alive. */
async function elapsed(milliseconds: number): Promise<void> {
	await new Promise((resolve) => setTimeout(resolve, milliseconds).unref());
}

declare module 'fastify' {
	interface FastifyContextConfig {
		operation?: CalledOperation;
		needsToken?: boolean;
		takesBody?: boolean;
	}
}
