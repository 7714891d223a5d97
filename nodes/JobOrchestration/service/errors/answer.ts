import { isJsonObject, type JsonObject } from '../../json';
import { present } from '../../texts';
import type { ServiceRequest } from '../request';
import { consequenceOf } from '../retry/policy';
import { addressOf, type Failure, failureOf, waitFacts } from './failure';
import { saidIn, saidOnPage, saysFailed } from './said';
import type { Secrets } from './secrets';
import { textsOf } from './statuses';

/** The body of the expected response, or the failure if no such response came. */
export type Result<Body> = { body: Body } | { failure: Failure };

/** The number of characters at the start of a text by which a web page is recognised, and what may precede its tags. */
const MAX_START = 500;
const PROLOG = /^(?:\s|<\?[^>]*>|<!--.*?-->)*/s;

/**
 * Returns the body of a response if it is the expected one, or else a failure without secrets.
 *
 * @param answer the full response, as n8n's request helper returns it
 */
export function resultOf<Body>(
	answer: unknown,
	request: ServiceRequest<Body>,
	{ account: { baseUrl }, secrets }: { account: { baseUrl: string }; secrets: Secrets },
): Result<Body> {
	const { statusCode: status, statusMessage, body: sent, headers } = Object(answer) as JsonObject;
	if (typeof status !== 'number') throw new Error('n8n returned no HTTP response');
	const { expected, idempotent, isExpected, isLogin = false } = request;
	const isSuccess = status >= 200 && status < 300;
	const body = sent === undefined || sent === '' ? null : sent;
	const given = isJsonObject(headers) ? headers : {};
	const isHtml = /html/i.test(String(given['content-type']));
	const start = typeof body === 'string' ? body.slice(0, MAX_START).replace(PROLOG, '') : '';
	// Some services also give plain texts the content type of HTML.
	const isPage = isHtml ? start.startsWith('<') : /^<(?:!doctype\s+html|html)[\s>]/i.test(start);
	const failed = saysFailed(body);
	// The response to a create shows the job if there is one, whatever it says beside it.
	const isDone = isSuccess && !isPage && !(failed && idempotent);
	if (isDone && isExpected(body)) return { body };
	const bodyType = isPage ? 'page' : typeof body === 'string' || body === null ? 'text' : 'json';
	// A text that begins with a tag could be a part of a web page. Its Retry-After isn't taken for the service's.
	const mayBePage = isHtml || start.startsWith('<');
	const means = consequenceOf({ status, retryAfterMs: retryAfterIn(given), mayBePage }, isLogin);
	const wasRefused =
		status === 200 &&
		failed === 'refused' &&
		!/"(?:job_?)?(?:uu?id|id)":(?:"[^"]|\d)/i.test(JSON.stringify(body));
	const consequence = { ...means, ...(wasRefused && { mayHaveActed: false }) };
	const { mayHaveActed, condition, retryAfterMs } = consequence;
	const isFailure = !isSuccess || failed !== undefined;
	// A body that says that the request failed is as good as a status: 500 stands for a create that may have worked.
	const meant =
		isSuccess && failed !== undefined ? (mayHaveActed && !idempotent ? 500 : 0) : status;
	const { words, fact } = isPage
		? saidOnPage(String(body), secrets)
		: saidIn(body, String(statusMessage ?? ''), isLogin && isSuccess, secrets);
	// The query is left out, since a service may put anything there.
	const location = secrets.redact(String(given.location ?? '').replace(/[?#].*$/s, ''));
	const facts = present([
		fact,
		location !== '' && `The redirect leads to ${location}.`,
		...waitFacts(retryAfterMs),
		`${addressOf(request, baseUrl)} was answered with HTTP ${status}.`,
	]);
	const received = isPage ? 'an HTML page' : kindOf(body);
	const kinds = { status: meant, condition, bodyType, received, expected } as const;
	const texts = textsOf({ ...kinds, location, baseUrl }, request.texts(baseUrl));
	const own = { ...texts, facts, httpStatus: status, ...(isFailure && { words }) };
	return { failure: failureOf({ ...consequence, ...own }) };
}

function kindOf(body: unknown): string {
	if (body === null) return 'nothing';
	if (Array.isArray(body)) return 'a list';
	return isJsonObject(body) ? 'an object' : 'a text';
}

/** The longest wait that a Retry-After can ask for, in milliseconds: a year. A longer one is a mistake of the service. */
const MAX_WAIT_MS = 365 * 24 * 3_600_000;

/** The smallest number that is a time since 1970 in seconds (2001), and in milliseconds. */
const EPOCH_S = 1e9;
const EPOCH_MS = 1e12;

/**
 * Returns the wait that a Retry-After header asks for, in milliseconds. It holds seconds, a date (RFC 9110, section
 * 10.2.3) or, from some services, the date as seconds or milliseconds since 1970. A date is compared with the response's
 * own Date header, since the clocks of the service and of n8n may differ.
 */
export function retryAfterIn(
	{ 'retry-after': header, date }: JsonObject,
	now = Date.now(),
): number | undefined {
	const text = String(header).trim();
	const number = /^\d+(?:\.\d+)?$/.test(text) ? Number(text) : Number.NaN;
	// Date.parse also accepts texts such as "-5", but a date in a header has a time of day.
	const parsed = /\d:\d\d/.test(text) ? Date.parse(text) : Number.NaN;
	const until = number >= EPOCH_MS ? number : number >= EPOCH_S ? number * 1_000 : parsed;
	const waitMs = Number.isNaN(until) ? number * 1_000 : until - (Date.parse(String(date)) || now);
	return waitMs <= MAX_WAIT_MS ? Math.max(0, waitMs) : undefined;
}
