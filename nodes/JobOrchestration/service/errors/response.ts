import type { Failure } from './failure';
import type { Secrets } from './secrets';
import { WITHHELD } from './secrets';
import { MAX_SHOWN, saidIn } from './words';
import type { JsonObject } from '../../json';
import { isJsonObject } from '../../json';
import type { ServiceRequest } from '../request';

/** What n8n's request helper gives where `returnFullResponse` is set, as far as it is used here. */
interface HttpResponse {
	/** 0 if what was returned is no response at all. */
	status: number;
	body: unknown;
	/** By their name in lower case. */
	headers: JsonObject;
}

/** Names of an object's fields in an error. */
const MAX_FIELDS = 5;

/** The body of the expected answer, or why it didn't come. */
export type Result<Body> = { body: Body } | { failure: Failure };

/** The body of the expected answer, or why it isn't that, without secrets. @param answer of n8n's request helper */
export function resultOf<Body>(
	answer: unknown,
	{ expected, isExpected, maySayFailed = false, isSecret = false }: ServiceRequest<Body>,
	secrets: Secrets,
): Result<Body> {
	const response = readResponse(answer);
	const { status } = response;
	// A 303 says that it is done, and where to look: the body is a note for people (RFC 9110, 15.4.4).
	const isDone = maySayFailed && status === 303;
	const body = isDone || response.body === undefined || response.body === '' ? null : response.body;
	if (isDone && isExpected(body)) return { body };
	const failure =
		failureOfStatus(response, secrets) ??
		(maySayFailed && saysFailed(body) ? refusalOf(response, secrets) : undefined);
	if (failure !== undefined) return { failure };
	if (isExpected(body)) return { body };
	const unexpected = { status, ...describeBody(body, secrets, isSecret), expected };
	return { failure: { kind: 'unexpectedResponse', ...unexpected } };
}

function readResponse(answer: unknown): HttpResponse {
	const { statusCode, body, headers } = isJsonObject(answer) ? answer : {};
	return {
		status: typeof statusCode === 'number' ? statusCode : 0,
		body,
		headers: isJsonObject(headers) ? headers : {},
	};
}

/** The failure that an answer's status stands for; undefined if it is a success. */
function failureOfStatus(response: HttpResponse, secrets: Secrets): Failure | undefined {
	const { status, headers } = response;
	if (status === 0) return { kind: 'broken', code: 'no HTTP response' };
	if (status >= 200 && status < 300) return undefined;
	if (status < 300 || status >= 400) return refusalOf(response, secrets);
	const { location } = headers;
	const given = typeof location === 'string' ? secrets.redact(location) : '';
	// The query is left out: a service may put anything there.
	const address = given.replace(/[?#].*$/s, '').slice(0, MAX_SHOWN);
	return { kind: 'redirect', status, location: address || 'another address' };
}

function refusalOf({ status, body, headers }: HttpResponse, secrets: Secrets): Failure {
	const form = isHtml(body) ? 'page' : typeof body === 'string' ? 'text' : 'json';
	const facts = { kind: 'status', status, form, retryAfterMs: parseRetryAfter(headers) } as const;
	if (form === 'page') return { ...facts, note: 'An HTML page came' };
	const said = saidIn(body, secrets);
	const note = "The service's message isn't shown because it contains the password or token";
	return said === undefined ? { ...facts, note } : { ...facts, ...said };
}

/** Whether a body says that the request failed: by a flag, or by a status as HTTP has it, of its own or of its error. */
export function saysFailed(body: unknown): boolean {
	if (!isJsonObject(body)) return false;
	const { success, ok, code, status, statusCode, error } = body;
	if ([success, ok].some((flag) => flag === false || flag === 'false')) return true;
	const statuses = [code, status, statusCode, isJsonObject(error) ? error.code : undefined];
	return statuses.some((value) => /^[45]\d\d$/.test(String(value)));
}

/**
 * What an answer is that isn't what was wanted, and what it holds, in a few words.
 *
 * @param isSecret whether a text that isn't clearly a message is not shown, as it may be a token
 */
function describeBody(body: unknown, secrets: Secrets, isSecret: boolean) {
	const same = (what: string) => ({ what, received: what });
	if (body === undefined || body === null || body === '') return same('nothing');
	if (Array.isArray(body)) return same('a list');
	if (isHtml(body)) return same('an HTML page');
	if (!isJsonObject(body)) {
		if (isSecret) return same('a text');
		const { text = WITHHELD } = saidIn(String(body), secrets) ?? {};
		return { what: 'a text', received: `the text ${text}` };
	}
	const what = 'an object';
	const names = Object.keys(body).slice(0, MAX_FIELDS).join(', ');
	if (names === '') return same('an empty object');
	const { message, error, msg } = body;
	const clear = [message, error, msg].filter((text) => typeof text === 'string');
	const said = saidIn(isSecret ? { message: clear.join(': ') } : body, secrets);
	if (said === undefined || secrets.areIn(names))
		return { what, received: `${what} with ${WITHHELD}` };
	if (said.words === undefined) return { what, received: `${what} with the fields ${names}` };
	return {
		what,
		received: `the ${said.text?.startsWith('"') ? 'message' : 'object'} ${said.text}`,
	};
}

/** What may come before the first element of a page or of another XML document. */
const PROLOG = /<\?[^>]*>|<!--.*?-->/gs;

const PAGE =
	/^\s*<(?:!doctype\s+html|html|head|body|title|meta|link|style|script|div|span|p|br|h[1-6]|center|form|table|b|i|img|a)[\s/>]/i;

/** Whether a body is a web page, or a part of one, rather than a message for a program, such as XML. */
export function isHtml(body: unknown): boolean {
	return typeof body === 'string' && PAGE.test(body.slice(0, MAX_SHOWN).replace(PROLOG, ''));
}

/** Every date that a header can have names the time of day; Date.parse would read one in many other texts. */
const DATE = /[a-z].*\d\d:\d\d:\d\d|\d\d:\d\d:\d\d.*[a-z]/i;

/** The longest date or number that a header has. In a longer text, to search for one could take a second. */
const MAX_HEADER = 64;

/**
 * The wait that a Retry-After header asks for, in milliseconds; undefined if it can't be read. A date is read against the
 * answer's own `date`, since the service's clock may differ.
 */
export function parseRetryAfter(headers: JsonObject, now = Date.now()): number | undefined {
	const retryAfter = headers['retry-after'];
	if (typeof retryAfter !== 'string' || retryAfter.length > MAX_HEADER) return undefined;
	if (/^\s*\d+(?:\.\d+)?\s*$/.test(retryAfter)) return Number(retryAfter) * 1000;
	const until = dateIn(retryAfter);
	return until === undefined ? undefined : Math.max(0, until - (dateIn(headers.date) ?? now));
}

/** A header's date in milliseconds; undefined if it can't be read. */
function dateIn(header: unknown): number | undefined {
	const isDate = typeof header === 'string' && header.length <= MAX_HEADER && DATE.test(header);
	const date = isDate ? Date.parse(header) : Number.NaN;
	return Number.isNaN(date) ? undefined : date;
}
