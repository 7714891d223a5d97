import { FieldValue } from '../../../nodes/JobOrchestration/parameters/fieldValue';
import { resources } from '../../../nodes/JobOrchestration/resources';
import type { Operation, PreparedCall } from '../../../nodes/JobOrchestration/resources/operation';
import { CallError } from '../../../nodes/JobOrchestration/service/calls/callError';
import { ServiceClient } from '../../../nodes/JobOrchestration/service/calls/serviceClient';
import { explainLogin } from '../../../nodes/JobOrchestration/service/messages/loginMessage';
import { ServiceError } from '../../../nodes/JobOrchestration/service/messages/serviceError';
import type {
	SendResult,
	ServiceRequest,
} from '../../../nodes/JobOrchestration/service/calls/httpClient';
import type { RequestFailure } from '../../../nodes/JobOrchestration/service/request/failure';
import { newSender } from '../../engine/sender';
import { shown } from './shown';
import type { Shown, things } from './shown';

/*
 * Every error of a call and of the log-in: the call of each operation, answered with each kind of failure.
 */

/** Failures of every kind; a kind that is missing here does not compile. */
function loginFailures({ url, location, proxy }: typeof things) {
	const { host } = new URL(url);
	const byKind: { [K in RequestFailure['kind']]: Array<Extract<RequestFailure, { kind: K }>> } = {
		// What a Base URL can have wrong is asked of readBaseUrl, below.
		baseUrl: [],
		unreachable: [
			...['ECONNREFUSED', 'EHOSTUNREACH'].flatMap((code) =>
				[undefined, `${host}:443`, proxy].map(
					(address) => ({ kind: 'unreachable', code, address }) as const,
				),
			),
			...[undefined, host, 'proxy.example'].map(
				(address) => ({ kind: 'unreachable', code: 'ENOTFOUND', address }) as const,
			),
		],
		blocked: [{ kind: 'blocked', reason: 'The request was blocked' }],
		tls: [{ kind: 'tls', code: 'EPROTO' }],
		certificate: [{ kind: 'certificate', code: 'CERT_HAS_EXPIRED' }],
		timeout: [{ kind: 'timeout' }, { kind: 'timeout', after: 20_000 }],
		broken: [{ kind: 'broken', code: 'ECONNRESET' }],
		cancelled: [{ kind: 'cancelled' }],
		redirect: [
			...[location, undefined].flatMap((to) =>
				range(300, 399).map((status) => ({ kind: 'redirect', status, location: to }) as const),
			),
		],
		status: range(400, 599).flatMap((status) => [
			{ kind: 'status', status, text: undefined, retryAfter: undefined },
			{ kind: 'status', status, text: 'No.', retryAfter: 1_000 },
			{ kind: 'status', status, text: undefined, retryAfter: undefined, ofOthers: true },
		]),
		unexpectedResponse: ['an empty object', '"No."'].map((received) => ({
			...{ kind: 'unexpectedResponse', status: 200, received, expected: 'a token' },
		})),
		n8nFailed: [{ kind: 'n8nFailed', reason: 'database is locked' }],
		foreignAddress: [{ kind: 'foreignAddress', address: 'elsewhere.example' }],
		proxy: [{ kind: 'proxy' }],
	};
	return Object.values(byKind).flat();
}

export function range(first: number, last: number): number[] {
	return Array.from({ length: last - first + 1 }, (_, index) => first + index);
}

/** What every call of the service, and the log-in, can end in. */
export async function serviceErrors(about: typeof things): Promise<Shown[]> {
	const { url } = about;
	const causes = loginFailures(about);
	const status = 200;
	const results: Array<(request: ServiceRequest<unknown>) => SendResult<unknown>> = [
		...causes
			.filter(({ kind }) => kind !== 'unexpectedResponse')
			.map((failure) => () => ({ failure })),
		({ expected }) => ({
			failure: { kind: 'unexpectedResponse', status, received: 'an HTML page', expected },
		}),
	];
	// What a log-in says is the same for all calls: one operation will do.
	const logIns: typeof results = causes.map((cause) => () => ({
		failure: { kind: 'login', cause },
	}));

	const errorOf = async (call: PreparedCall, resultOf: (typeof results)[number]) => {
		const client = new ServiceClient(newSender(resultOf, { baseUrl: url }), {
			maxRetries: 0,
			timeout: 77_000,
		});
		const error: unknown = await call(client).catch((thrown: unknown) => thrown);
		if (!(error instanceof CallError)) throw new Error('This result makes no CallError');
		return error;
	};
	const ofCalls = resources
		.flatMap(({ operations }) => operations)
		.flatMap((operation) => {
			const makesJobs = operation.makesJobs === true;
			return [...results, ...(makesJobs ? logIns : [])].map(async (result) => {
				const error = await errorOf(callOf(operation, about.given), result);
				return makesJobs ? { ...shown(error), jobMayExist: error.jobMayExist } : shown(error);
			});
		});
	const ofEndlessList = errorOf(
		async (client) => await client.allClusters({ pageSize: 1, limit: 2 }),
		() => ({ body: { items: [], metadata: { continue: 'again' } } }),
	);
	const ofLogIns = causes.map((cause) =>
		shown(new ServiceError({ kind: 'login', cause }, explainLogin(cause, url))),
	);
	return [...(await Promise.all(ofCalls)), shown(await ofEndlessList), ...ofLogIns];
}

/** The call of an operation of which only what must be filled in is given. */
function callOf({ fields, prepare }: Operation, given: string): PreparedCall {
	return prepare((name, member) => {
		const field =
			member === undefined ? fields.find((candidate) => candidate.name === name) : undefined;
		return new FieldValue(name, field?.required === true ? given : field?.default);
	});
}
