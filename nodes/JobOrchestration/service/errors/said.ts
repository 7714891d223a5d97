import { isJsonObject, type JsonObject } from '../../json';
import { MAX, truncate } from '../../texts';
import { MAX_READ, type Secrets } from './secrets';

/** The response to a request. */
export interface Answer {
	status: number;
	/** Whether the status says that the request succeeded. */
	isSuccess: boolean;
	/** The reason phrase, which is mostly the name of the status. */
	phrase: string;
	headers: JsonObject;
	/** The body; null if it is empty. */
	body: unknown;
	/** What the body is, as it completes a sentence. Anything that isn't a list or an object counts as a text. */
	kind: 'an HTML page' | 'nothing' | 'a text' | 'a list' | 'an object';
	/** Whether the body may be a web page or a part of one, judging by its text or its content type. */
	mayBePage: boolean;
	/** Whether the body says that the request failed, as `saysFailed` returns it. */
	saysFailed: 'refused' | 'failed' | undefined;
}

/** The maximum number of values that are read of a body. A body of 20 MB would block n8n otherwise. */
const MAX_VALUES = 200;

/** The fields in which services say what is wrong, the most telling first. */
const TELLING = 'message error_description detail msg title reason error errors'.split(' ');

/** The fields below which services say more, beside a message: errors, details, exception_detail, validationErrors. */
const MORE = /(?:errors|details?)$/i;

const WITHHELD = {
	words: '',
	fact: "The answer isn't shown: it contains the password or a token.",
};

/**
 * Decides whether a body says that the request failed. The interface document shows no such body: these are the fields
 * that services commonly use.
 *
 * @returns `refused` if a flag says so, `failed` if the body has an error
 */
export function saysFailed(body: unknown): 'refused' | 'failed' | undefined {
	if (!isJsonObject(body)) return undefined;
	const { success, ok, error } = body;
	if ([success, ok].some((flag) => flag === false || flag === 'false')) return 'refused';
	const isError = typeof error === 'object' ? Object.keys(error ?? {}).length > 0 : Boolean(error);
	return isError ? 'failed' : undefined;
}

/**
 * Returns what a response says: the words for a title, or an empty text, and everything that it says, as a fact for a
 * description. A success that doesn't say that the request failed has no words.
 *
 * @param mayHaveToken whether any text of a successful response but a message may be a token
 */
export function saidIn(answer: Answer, secrets: Secrets, { mayHaveToken = false } = {}) {
	const { isSuccess, body, kind } = answer;
	if (kind === 'an HTML page') return saidOnPage(String(body), secrets);
	const cut = cutCopy(mayHaveToken && isSuccess ? messagesIn(body) : body);
	const json = JSON.stringify(cut) ?? 'null';
	if (/^(?:null|""|\[\]|{})$/.test(json)) return { words: '', fact: 'The answer has no message.' };
	if (secrets.areIn(json)) return WITHHELD;
	const hasWords = !isSuccess || answer.saysFailed !== undefined;
	const words = hasWords ? truncate(wordsIn(cut, answer.phrase), MAX.wordsInTitle) : '';
	return { words, fact: `The service says: ${truncate(json, MAX.said)}` };
}

/** Returns what a web page says, in the same form. Its text could be anything, so a title doesn't quote it. */
function saidOnPage(page: string, secrets: Secrets) {
	const text = visibleText(page);
	// A page may have tags within a secret.
	const searched = [page.slice(0, MAX_PAGE + MAX_READ), text, visibleText(page, '')];
	if (searched.some((part) => secrets.areIn(part))) return WITHHELD;
	const by = 'perhaps from a firewall, a proxy or a login page before the service';
	return { words: '', fact: `A web page came, ${by}: "${truncate(text, MAX.said)}"` };
}

/** Returns what a body says in fields of messages alone, because any other field may contain a token. */
const messagesIn = (body: unknown): unknown =>
	isJsonObject(body) ? JSON.parse(JSON.stringify(body, ['message', 'error', 'msg'])) : null;

/** Returns a copy of a body without what is too long or too much. */
function cutCopy(value: unknown, left = { values: MAX_VALUES }): unknown {
	left.values -= 1;
	if (left.values < 0) return '…';
	if (typeof value === 'string') return value.trim().slice(0, MAX_READ);
	if (Array.isArray(value))
		return value.slice(0, left.values + 1).map((element) => cutCopy(element, left));
	if (!isJsonObject(value)) return value;
	const entries = Object.entries(value).slice(0, left.values + 1);
	return Object.fromEntries(
		entries.map(([name, element]) => [name.slice(0, MAX_READ), cutCopy(element, left)]),
	);
}

/**
 * Returns the first line of the first text in a body and, if there is one, of the first text below its errors. The name
 * of the response's status says nothing, so it isn't returned.
 */
function wordsIn(body: unknown, phrase: string): string {
	const fields = isJsonObject(body) ? Object.entries(body) : [];
	const more = fields.map(([name, value]) => (MORE.test(name) ? textIn(value) : undefined));
	const texts = [textIn(body), ...more].filter((text) => text && !isNameOf(phrase, text));
	const [first = '', second = first] = new Set(texts);
	if (second === first) return first;
	return `${first}${/[.:!?]$/.test(first) ? '' : ':'} ${second}`;
}

/** Returns the letters and digits of a text, to compare what two texts say. */
export const lettersAndDigitsOf = (text: string) =>
	text
		.toLowerCase()
		.match(/[\p{L}\p{N}]+/gu)
		?.join(' ') ?? '';

/**
 * Decides whether a text is only the name of the response's status. Such a name has a capital in each word, unlike the
 * messages that some servers put in its place.
 */
const isNameOf = (phrase: string, text: string) =>
	lettersAndDigitsOf(text.replace(/\d/g, '')) === lettersAndDigitsOf(phrase) &&
	!/ [a-z]/.test(phrase);

/** Returns the first line of the first text in a value. The text of a telling field comes before those of all others. */
function textIn(value: unknown): string | undefined {
	if (typeof value === 'string') {
		const [line = ''] = value.slice(0, MAX.said).split(/[\r\n]/, 1);
		return line.replace(/[\s\p{Cc}]+/gu, ' ').replace(/^ |[ :]+$/g, '') || undefined;
	}
	if (typeof value !== 'object' || value === null) return undefined;
	const rankOf = (name: string) => TELLING.indexOf(name.toLowerCase()) + 1 || TELLING.length + 1;
	const fields = Object.entries(value).sort(([a], [b]) => rankOf(a) - rankOf(b));
	return fields.map(([, element]) => textIn(element)).find((text) => text !== undefined);
}

/** The number of characters of a page that are read. In some pages, 50,000 characters of styles precede the text. */
const MAX_PAGE = 200_000;

const ENTITIES: Partial<Record<string, string>> = {
	amp: '&',
	lt: '<',
	gt: '>',
	quot: '"',
	apos: "'",
	nbsp: ' ',
};

/** Returns the text that a browser shows of a page, on one line. */
function visibleText(page: string, betweenTags = ' '): string {
	return page
		.slice(0, MAX_PAGE)
		.replace(/<!--.*?(?:-->|$)|<(script|style|svg|template)\b.*?(?:<\/\1\s*>|$)/gis, '')
		.replace(/<[/!?a-z][^<>]*>?/gi, betweenTags)
		.replace(/&(?:#(x?[\da-f]{1,5})|(\w{2,4}));/gi, (entity, code?: string, name = '') =>
			code === undefined
				? (ENTITIES[String(name)] ?? entity)
				: String.fromCodePoint(Number(`0${code}`) || 32),
		)
		.replace(/\s+/g, ' ')
		.trim();
}
