import { isJsonObject, type JsonObject } from '../../json';
import { MAX, present, truncate } from '../../texts';
import type { ServiceRequest } from '../request';
import { type Consequence, consequenceOf } from '../policy';
import { addressOf, type Failure, failureOf, waitFacts } from './failure';
import { type Answer, lettersAndDigitsOf, saidIn, saysFailed } from './said';
import type { Secrets } from './secrets';
import { textsOf } from './statuses';

/** The body of the expected response, or the failure if no such response came. */
export type Result<Body> = { body: Body } | { failure: Failure };

/**
 * Returns the body of a response if it is the expected one, or else a failure without secrets. What the interface
 * document shows is the expected response, whatever stands beside it.
 *
 * @param response the full response, as n8n's request helper returns it
 */
export function resultOf<Body>(
	response: unknown,
	request: ServiceRequest<Body>,
	{ account: { baseUrl }, secrets }: { account: { baseUrl: string }; secrets: Secrets },
): Result<Body> {
	const answer = answerOf(response);
	const { status, isSuccess, headers, body, kind } = answer;
	if (isSuccess && kind !== 'an HTML page' && request.isExpected(body)) return { body };
	const consequence = consequenceIn(answer, request);
	const { words, fact } = saidIn(answer, secrets, { mayHaveToken: request.isLogin === true });
	// The query is left out, since a service may put anything there.
	const location = secrets.redact(String(headers.location ?? '').replace(/[?#].*$/s, ''));
	const facts = present([
		fact,
		location !== '' && `The redirect leads to ${truncate(location, MAX.address)}.`,
		...waitFacts(consequence.retryAfterMs),
		`${addressOf(request, baseUrl)} was answered with HTTP ${status}.`,
	]);
	const { title: what, advice } = textsOf(answer, consequence, request, { baseUrl, location });
	const isInTitle = lettersAndDigitsOf(what).includes(lettersAndDigitsOf(words));
	const title = present([what, !isInTitle && words]).join(': ');
	return { failure: failureOf({ ...consequence, title, advice, facts, httpStatus: status }) };
}

/** The number of characters at the start of a text by which a web page is recognised, and what may precede its tags. */
const MAX_START = 500;
const PROLOG = /^(?:\s|<\?[^>]*>|<!--.*?-->)*/s;

/** Reads a full response, as n8n's request helper returns it. @throws Error if the response has no status code */
function answerOf(response: unknown): Answer {
	const { statusCode: status, statusMessage, body: sent, headers } = Object(response) as JsonObject;
	if (typeof status !== 'number') throw new Error('n8n returned no HTTP response');
	const body = sent === undefined || sent === '' ? null : sent;
	const given = isJsonObject(headers) ? headers : {};
	const isHtml = /html/i.test(String(given['content-type']));
	const start = typeof body === 'string' ? body.slice(0, MAX_START).replace(PROLOG, '') : '';
	// Some services also give plain texts the content type of HTML.
	const isPage = isHtml ? start.startsWith('<') : /^<(?:!doctype\s+html|html)[\s>]/i.test(start);
	return {
		status,
		isSuccess: status >= 200 && status < 300,
		phrase: String(statusMessage ?? ''),
		headers: given,
		body,
		kind: isPage ? 'an HTML page' : kindOfBody(body),
		mayBePage: isHtml || start.startsWith('<'),
		saysFailed: saysFailed(body),
	};
}

function kindOfBody(body: unknown): Answer['kind'] {
	if (body === null) return 'nothing';
	if (Array.isArray(body)) return 'a list';
	return isJsonObject(body) ? 'an object' : 'a text';
}

/** Returns what follows from a response that isn't the expected one. */
function consequenceIn(answer: Answer, { isLogin, job }: ServiceRequest<unknown>): Consequence {
	const { status, headers, body, mayBePage } = answer;
	const retryAfterMs = retryAfterIn(headers);
	const consequence = consequenceOf({ status, retryAfterMs, mayBePage }, isLogin);
	const wasRefused = status === 200 && answer.saysFailed === 'refused';
	// A response with an ID may show a job that was created nevertheless.
	if (!wasRefused || (job !== undefined && hasJobId(JSON.stringify(body)))) return consequence;
	return { ...consequence, mayHaveActed: false };
}

/** Matches the field of an ID that the request has, as JSON. The bounds keep the search linear. */
const REQUEST_ID =
	/"(?![^"]{0,80}(?:job|task))[^"]{0,40}(?:request|trace|correlation|span)[^"]{0,40}":(?:"[^"]{0,100}"|\d{1,100})/gi;

/** These match a field of any other ID, or of a job, as JSON: `id`, `entity_uid`, `jobIds`, `job`, and `runId`, but not `valid`. */
const ID_FIELD =
	/"(?:(?:[^"]*(?:job|task|[_-]))?(?:uu?)?ids?|jobs?)":[[{]?(?:"[^"]|\d)|"name":"job-/i;
const ID_FIELD_IN_CAMEL_CASE = /"[^"]*[a-z\d](?:I|U[Uu]?[Ii])[Dd]s?":[[{]?(?:"[^"]|\d)/;

/**
 * Matches what may be the ID of a job in a text: a number after "job", the name of a job as the interface document shows
 * it, or a long word with a digit, such as a UUID.
 */
const ID_IN_TEXT =
	/\bjob(?:\W{1,3}|s\/)\w{0,9}\d|\bjob-(?=[a-z]*\d)\w{4}|(?<![\w-])(?=[\w-]{0,40}\d)[\w-]{20}/i;

/** Decides whether a body, as JSON, may show the ID of a job. */
function hasJobId(json: string): boolean {
	const searched = json.replace(REQUEST_ID, '');
	return [ID_FIELD, ID_FIELD_IN_CAMEL_CASE, ID_IN_TEXT].some((pattern) => pattern.test(searched));
}

/** The longest wait that a Retry-After can ask for, in milliseconds: a year. A longer one is a mistake of the service. */
const MAX_WAIT_MS = 365 * 24 * 3_600_000;

/** The smallest number that is a time since 1970 in seconds (2001), and in milliseconds. */
const EPOCH_S = 1e9;
const EPOCH_MS = 1e12;

/**
 * Returns the wait that a Retry-After header asks for, in milliseconds. It has seconds, a date (RFC 9110, section
 * 10.2.3) or, from some services, the date as seconds or milliseconds since 1970. A date is compared with the response's
 * own Date header, since the clocks of the service and of n8n may differ.
 */
export function retryAfterIn(
	{ 'retry-after': header, date }: JsonObject,
	now = Date.now(),
): number | undefined {
	const text = String(header).trim();
	const number = /^\d+(?:\.\d+)?$/.test(text) ? Number(text) : Number.NaN;
	// Date.parse also accepts texts such as "-5", but a date in a header has a time of day. Without a zone, it is in GMT.
	const hasZone = /(?:[a-z]|[+-]\d\d:?\d\d)$/i.test(text);
	const parsed = /\d:\d\d/.test(text)
		? Date.parse(hasZone ? text : `${text.replace('T', ' ')} GMT`)
		: Number.NaN;
	const until = number >= EPOCH_MS ? number : number >= EPOCH_S ? number * 1_000 : parsed;
	const waitMs = Number.isNaN(until) ? number * 1_000 : until - (Date.parse(String(date)) || now);
	return waitMs <= MAX_WAIT_MS ? Math.max(0, waitMs) : undefined;
}
