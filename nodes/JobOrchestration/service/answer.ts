import type { LoginFailure } from './failure';
import { readRetryAfter } from './retryPolicy';
import { isRecord } from './shapes';

/** What n8n's request helper gives where `returnFullResponse` is set, as far as it is used here. */
export interface Answer {
	status: number;
	body: unknown;
	header(name: string): unknown;
}

/** The longest that the service's own words may be in an error. */
const LONGEST_TEXT = 500;

/** Where services put the words of an error. The interface shows none of them. */
const TEXT_KEYS = ['message', 'error', 'msg', 'detail', 'details', 'error_description', 'errors'];

/** Reads what n8n's request helper returned. */
export function readAnswer(response: unknown): Answer {
	const { statusCode, body, headers } = isRecord(response) ? response : {};
	return {
		status: typeof statusCode === 'number' ? statusCode : 0,
		body,
		header: (name) => (isRecord(headers) ? headers[name] : undefined),
	};
}

/**
 * The failure that an answer stands for; undefined where its status is a success.
 *
 * @param secrets texts that no error may repeat, should the service echo them
 */
export function failureIn(answer: Answer, secrets: readonly string[]): LoginFailure | undefined {
	const { status, body } = answer;
	if (status >= 200 && status < 300) return undefined;
	if (status >= 300 && status < 400) {
		return { kind: 'redirect', status, location: addressIn(answer.header('location'), secrets) };
	}
	const text = textIn(body);
	return {
		kind: 'status',
		status,
		text: text === undefined ? undefined : quotable(text, secrets),
		retryAfter: readRetryAfter(answer.header('retry-after')),
	};
}

/** What an answer is that is not what was wanted, in a few words that say what came. */
export function describe(body: unknown, secrets: readonly string[]): string {
	if (body === undefined || body === null || body === '') return 'nothing';
	if (Array.isArray(body)) return 'a list';
	if (isRecord(body)) {
		const text = textIn(body);
		if (text !== undefined) return `"${quotable(text, secrets)}"`;
		const keys = Object.keys(body).slice(0, 5).join(', ');
		return keys === ''
			? 'an empty object'
			: `an object of other fields (${quotable(keys, secrets)})`;
	}
	if (isHtml(body)) return 'an HTML page';
	return `the text "${quotable(String(body), secrets)}"`;
}

/** Whether a body is a web page rather than a message for a program. */
export function isHtml(body: unknown): boolean {
	return typeof body === 'string' && /^\s*(?:<!doctype|<html|<head|<body|<\?xml)/i.test(body);
}

/** The words in an error's body, wherever the service puts them: nested, in a list, or the plain text. */
function textIn(body: unknown, depth = 0): string | undefined {
	if (typeof body === 'string') {
		const text = isHtml(body) ? titleOf(body) : body.trim();
		return text === '' ? undefined : text;
	}
	if (depth > 3) return undefined;
	if (Array.isArray(body)) return firstText(body.slice(0, 5), depth);
	if (!isRecord(body)) return undefined;
	return firstText(
		[...TEXT_KEYS, 'data', 'body'].map((key) =>
			typeof body[key] === 'number' ? undefined : body[key],
		),
		depth,
	);
}

function firstText(values: readonly unknown[], depth: number): string | undefined {
	for (const value of values) {
		const text = textIn(value, depth + 1);
		if (text !== undefined) return text;
	}
	return undefined;
}

function titleOf(html: string): string {
	return /<title[^>]*>([^<]{1,200})</i.exec(html.slice(0, 10_000))?.[1]?.trim() ?? '';
}

/** How much of a text is looked at: an answer may be huge. */
const MOST_READ = 20 * LONGEST_TEXT;

/**
 * A text of the service's as an error may repeat it: on one line, not too long, and without the secrets.
 * They are taken out before it is cut, and where it was cut before that, so much of its end goes that no
 * half of a secret is left.
 */
function quotable(text: string, secrets: readonly string[]): string {
	const forms = secrets.flatMap(formsOf).sort((a, b) => b.length - a.length);
	const clean = forms.reduce(
		(left, form) => left.replaceAll(form, '***'),
		text.slice(0, MOST_READ),
	);
	const whole = text.length <= MOST_READ ? clean : clean.slice(0, -(forms[0]?.length ?? 1));
	const line = whole.replace(/\s+/g, ' ');
	return line.length > LONGEST_TEXT ? `${line.slice(0, LONGEST_TEXT)}…` : line;
}

/** How a secret looks as it is, in JSON, in an address, in a form, in HTML and in base64. */
function formsOf(secret: string): string[] {
	if (secret === '') return [];
	const whole = secret.replace(/\p{Surrogate}/gu, '\ufffd');
	const inJson = JSON.stringify(secret).slice(1, -1);
	const forms = [
		secret,
		inJson,
		inJson.replace(/[^ -~]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`),
		encodeURI(whole),
		encodeURIComponent(whole),
		new URLSearchParams({ '': secret }).toString().slice(1),
		secret.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;'),
		Buffer.from(secret).toString('base64'),
	];
	return [...new Set(forms)];
}

/** Where a redirect points to, without its query: a service may put anything there. */
function addressIn(location: unknown, secrets: readonly string[]): string | undefined {
	if (typeof location !== 'string' || location === '') return undefined;
	return quotable(location.replace(/[?#].*$/s, ''), secrets);
}
