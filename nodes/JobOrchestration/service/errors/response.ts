import type { Failure } from './failure';
import { truncate } from './meaning';
import { type Secrets, WITHHELD } from './secrets';
import type { StatusFacts } from './statuses';
import { MAX_SHOWN, saidIn } from './words';
import { isJsonObject, type JsonObject } from '../../json';
import type { ServiceRequest } from '../request';

/** The body of the expected answer, or why it didn't come. */
export type Result<Body> = { body: Body } | { failure: Failure };

/** The body of the expected answer, or why it isn't that, without secrets. @param answer of n8n's request helper */
export function resultOf<Body>(
	answer: unknown,
	{ expected, isExpected, maySayFailed = false, isSecret = false }: ServiceRequest<Body>,
	secrets: Secrets,
): Result<Body> {
	const { statusCode: status, body: sent, headers } = isJsonObject(answer) ? answer : {};
	if (typeof status !== 'number') return { failure: { kind: 'broken', code: 'no HTTP response' } };
	// A 303 says that it is done, and where to look: the body is a note for people (RFC 9110, 15.4.4).
	const isDone = maySayFailed && status === 303;
	const isSuccess = isDone || (status >= 200 && status < 300);
	const body = isDone || sent === undefined || sent === '' ? null : sent;
	const given = isJsonObject(headers) ? headers : {};
	if (!isSuccess && status >= 300 && status < 400) {
		const location = typeof given.location === 'string' ? secrets.redact(given.location) : '';
		// The query is left out: a service may put anything there.
		const address = location.replace(/[?#].*$/s, '').slice(0, MAX_SHOWN);
		return { failure: { kind: 'redirect', status, location: address || 'another address' } };
	}
	if (!isSuccess || (maySayFailed && saysFailed(body))) {
		const retryAfterMs = parseRetryAfter(given);
		const isPage = isHtml(body) || /html/i.test(String(given['content-type']));
		return {
			failure: { kind: 'status', status, retryAfterMs, isPage, ...reasonIn(body, secrets) },
		};
	}
	if (isExpected(body)) return { body };
	const unexpected = { status, expected, ...describe(body, secrets, isSecret) };
	return { failure: { kind: 'unexpectedResponse', ...unexpected } };
}

/** What the body of a refusal says, as facts of its failure. */
function reasonIn(body: unknown, secrets: Secrets): Partial<StatusFacts> {
	if (isHtml(body)) return { form: 'page', note: 'An HTML page came' };
	const form = typeof body === 'string' || body === null ? 'text' : 'json';
	const note = "The service's message isn't shown because it contains the password or token";
	return { form, ...(saidIn(body, secrets) ?? { note }) };
}

/** Whether a body says that the request failed: by a flag, or by a status as HTTP has it, of its own or of its error. */
export function saysFailed(body: unknown): boolean {
	if (!isJsonObject(body)) return false;
	const { success, ok, code, status, statusCode, error } = body;
	if ([success, ok].some((flag) => flag === false || flag === 'false')) return true;
	const statuses = [code, status, statusCode, isJsonObject(error) ? error.code : undefined];
	return statuses.some((value) => /^[45]\d\d$/.test(String(value)));
}

/** What an answer is that isn't what was wanted, and what it holds. @param isSecret whether any text may be a token */
function describe(body: unknown, secrets: Secrets, isSecret: boolean) {
	const what = kindOf(body);
	if (body === null || isHtml(body)) return { what, received: what };
	const said = isSecret ? { text: messagesIn(body, secrets) } : saidIn(body, secrets);
	const { text } = said ?? { text: WITHHELD };
	if (text === undefined) return { what, received: what };
	return { what, received: text.startsWith('"') ? `the message ${text}` : `${what}: ${text}` };
}

function kindOf(body: unknown): string {
	if (body === null) return 'nothing';
	if (Array.isArray(body)) return 'a list';
	if (isHtml(body)) return 'an HTML page';
	if (!isJsonObject(body)) return 'a text';
	return Object.keys(body).length === 0 ? 'an empty object' : 'an object';
}

/** An object as JSON in which only what is clearly a message is shown. */
function messagesIn(body: unknown, secrets: Secrets): string | undefined {
	if (!isJsonObject(body)) return undefined;
	const entries = Object.entries(body).map(([key, value]) => {
		const isMessage = ['message', 'error', 'msg'].includes(key) && typeof value === 'string';
		return [key, isMessage ? value : '…'];
	});
	return truncate(secrets.redact(JSON.stringify(Object.fromEntries(entries))), MAX_SHOWN);
}

/** What may come before the first element of a page or of another XML document. */
const PROLOG = /<\?[^>]*>|<!--.*?-->/gs;

const PAGE =
	/^\s*<(?:!doctype\s+html|html|head|body|title|meta|link|style|script|div|span|p|br|h[1-6]|center|form|table|b|i|img|a)[\s/>]/i;

/** Whether a body is a web page, or a part of one, rather than a message for a program, such as XML. */
export function isHtml(body: unknown): boolean {
	return typeof body === 'string' && PAGE.test(body.slice(0, MAX_SHOWN).replace(PROLOG, ''));
}

/** The wait that a Retry-After asks for, in milliseconds. A date is read against the answer's own: clocks differ. */
export function parseRetryAfter(headers: JsonObject, now = Date.now()): number | undefined {
	const retryAfter = headers['retry-after'];
	if (/^\s*\d+(?:\.\d+)?\s*$/.test(String(retryAfter))) return Number(retryAfter) * 1000;
	const [until, sentAt = now] = [retryAfter, headers.date].map(dateIn);
	return until === undefined ? undefined : Math.max(0, until - sentAt);
}

/** A header's date in milliseconds; undefined if it can't be read. Each has a time of day, unlike texts that Date reads. */
function dateIn(header: unknown): number | undefined {
	const date = /\d\d:\d\d:\d\d/.test(String(header)) ? Date.parse(String(header)) : Number.NaN;
	return Number.isNaN(date) ? undefined : date;
}
