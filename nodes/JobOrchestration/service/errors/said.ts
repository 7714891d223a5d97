import { isJsonObject } from '../../json';
import { truncate } from '../../texts';
import { textsOfPage } from './page';
import { MAX_READ, type Secrets } from './secrets';

/** The maximum length of the service's words in a description, in characters. */
export const MAX_SHOWN = 500;

/** The maximum length of the service's words in a title, in characters. */
const MAX_IN_TITLE = 80;

/**
 * The maximum depth to which a body is read, and the maximum number of its values. The limits keep a huge body from
 * blocking n8n. "…" stands for what is left out.
 */
const MAX_DEPTH = 20;
const MAX_VALUES = 1_000;

/**
 * What the body of a response says. No field is set if the body is empty, or a page that says no more than the status
 * code. `words` is not set if the body has no text.
 */
export interface Said {
	/** The service's words, as far as a title has room for them. */
	words?: string | undefined;
	/** Everything that the body says: its words in quotation marks, or the whole body as JSON if that says more. */
	text?: string | undefined;
	/** Whether the words are only the name of the response's status code. */
	isStatusName?: boolean;
	/** The reason why neither `words` nor `text` is shown. */
	withheld?: string;
}

interface Reading {
	secrets: Secrets;
	status: number;
	/** The reason phrase of the response. Some services put their message there, others leave it empty. */
	statusMessage: string;
	/** Whether any text in the body may be a token. Then only the fields that hold a message are shown. */
	isSecret?: boolean;
}

/** Returns what a body says that isn't a web page: its texts for people or, if it has none, its other texts. */
export function saidIn(body: unknown, reading: Reading): Said {
	const { shown, texts, searched } = read(body, reading.isSecret === true);
	const json = JSON.stringify(shown) ?? '';
	const withheld = secretIn([...searched, json], reading);
	if (withheld !== undefined) return withheld;
	if (texts.length === 0) return /^(?:null|""|\[\]|{})?$/.test(json) ? {} : { text: cut(json) };
	const speaking = texts.filter((text) => !IS_DATE.test(text));
	const isForPeople = (text: string) => FOR_PEOPLE.test(text) && saysMore(text, reading);
	const candidates = [speaking.filter(isForPeople), speaking, texts];
	const said = quotationOf(candidates.find(({ length }) => length > 0) ?? [], reading);
	const atTop = isJsonObject(shown) ? Object.values(shown) : [shown];
	if (texts.length === 1 && atTop.includes(texts[0]) && !json.includes('"…"')) return said;
	// If the JSON is cut, the words could be in the part that is left out, so they are quoted as well.
	return { ...said, text: json.length > MAX_SHOWN ? `${said.text}, in ${cut(json)}` : json };
}

/**
 * Returns what a web page says from its title, its first heading or its first `<pre>` on, if that is more than the
 * status code of the response.
 */
export function saidOnPage(page: string, reading: Reading): Said {
	const texts = textsOfPage(page).map(onOneLine);
	const lines = texts.filter((text) => saysMore(text, reading));
	if (lines.length === 0) return {};
	const sentences = lines.filter((text) => FOR_PEOPLE.test(text));
	// A page can contain a secret in several parts, with entities, or on several lines.
	return (
		secretIn([page.slice(0, 2 * MAX_READ), texts.join('\n'), texts.join('')], reading) ??
		quotationOf(sentences.length > 0 ? sentences : lines, reading)
	);
}

function secretIn(texts: string[], { secrets }: Reading): Said | undefined {
	const secret = secrets.findIn(texts.join('\n'));
	return (
		secret && { withheld: `The service's message isn't shown: a word in it is also the ${secret}` }
	);
}

function quotationOf(texts: string[], reading: Reading): Said {
	const different = unrepeated(texts);
	const words = joined(different, MAX_IN_TITLE);
	const text = `"${cut(joined(different, MAX_READ))}"`;
	return { words, text, isStatusName: !saysMore(words, reading) };
}

/** The only fields of the response to a login that are shown, since a field of any other name may hold a token. */
const OF_MESSAGES = ['message', 'error', 'msg'];

/** Returns a body as it may be shown, its texts, and the texts that are to be searched for secrets. */
function read(body: unknown, isSecret: boolean) {
	const texts: string[] = [];
	const searched: string[] = [];
	const left = { values: MAX_VALUES, characters: MAX_READ };

	const copy = (value: unknown, depth: number, key = ''): unknown => {
		left.values -= 1;
		if (left.values < 0 || left.characters === 0 || depth > MAX_DEPTH) return '…';
		if (isSecret && depth > 0 && (depth > 1 || !OF_MESSAGES.includes(key))) return '…';
		if (Array.isArray(value)) {
			return value.slice(0, MAX_VALUES).map((element) => copy(element, depth + 1));
		}
		if (isJsonObject(value)) {
			const entries = Object.entries(value).slice(0, MAX_VALUES);
			return Object.fromEntries(
				entries.map(([name, element]) => [name, copy(element, depth + 1, name)]),
			);
		}
		// The search goes beyond the part that is used, so that it finds a secret that lies across the limit.
		searched.push(String(value).slice(0, left.characters + MAX_READ));
		if (typeof value !== 'string') return value;
		const text = onOneLine(value.slice(0, left.characters));
		left.characters = Math.max(0, left.characters - value.length);
		if (text !== '') texts.push(text);
		return text;
	};
	return { shown: isSecret && !isJsonObject(body) ? null : copy(body, 0), texts, searched };
}

/** Matches the first frame of a stack trace of Java, .NET and JavaScript, of PHP, or of Go: each has a form of its own. */
const FRAME =
	/(?:^\s*|\n[ \t]+)at (?:async |new )?(?=[^\s(]+(?: \[[^\]\n]+\])? ?\(|\S+:\d+)|\n#0 |\ngoroutine \d/;

/**
 * Returns a text on one line and without its stack trace. What remains is the text before the first frame or, of a
 * Python traceback, the last line.
 */
function onOneLine(text: string): string {
	const [message = ''] = text
		.replace(/^Traceback \(most recent call last\):.*\n(?=\S)/s, '')
		.split(FRAME, 1);
	return message.replace(/[\s\p{Cc}]+/gu, ' ').trim();
}

/**
 * Matches a text for people, which has a space or a letter outside ASCII. A text in ASCII without a space, such as
 * invalid_group, is for programs.
 */
const FOR_PEOPLE = /\s|(?!\p{ASCII})\p{L}/u;

/**
 * The names of the usual status codes, since n8n doesn't let a node import those of Node.js. For any other status code,
 * the reason phrase is taken as its name.
 */
const STATUS_NAMES: Partial<Record<number, string>> = {
	...{ 400: 'bad request', 401: 'unauthorized', 403: 'forbidden', 404: 'not found' },
	...{ 405: 'method not allowed', 409: 'conflict', 413: 'payload too large' },
	...{ 422: 'unprocessable entity', 429: 'too many requests', 500: 'internal server error' },
	...{ 502: 'bad gateway', 503: 'service unavailable', 504: 'gateway timeout' },
};

/** Decides whether a text says more than the status code. "HTTP Status 404 – Not Found" and "Error 400" don't. */
function saysMore(text: string, { status, statusMessage }: Reading): boolean {
	const phrase = statusMessage.toLowerCase().trim();
	const name = STATUS_NAMES[status] ?? phrase;
	// The phrase "Request Entity Too Large" is the name of a 413, while "No valid crumb was included" is a message.
	const isName = phrase.split(/\W/).some((word) => word !== '' && name.includes(word));
	const words = text
		.toLowerCase()
		.replaceAll('_', ' ')
		.replaceAll(name || ' ', ' ');
	const others = isName ? words.replaceAll(phrase, ' ') : words;
	return /\p{L}/u.test(others.replace(/\b(?:http|error|status|code|page)\b/g, ' '));
}

/** Matches a date or a number, which says nothing in a title. */
const IS_DATE = /^[-\d\s:.,+TZ]+$/;

/** Returns the texts without repetitions of earlier ones, even if the class of an exception precedes a repetition. */
function unrepeated(texts: string[]): string[] {
	const different: string[] = [];
	// Each text takes at least two characters, one of them as a separator, so more texts don't fit.
	for (const text of texts.slice(0, MAX_SHOWN / 2)) {
		const isRepeated = different.some((other) => other.includes(text) || text.endsWith(other));
		if (!isRepeated) different.push(text);
	}
	return different;
}

/** Joins as many of the texts as fit, in order. The first text is truncated if it is too long. */
function joined([first = '', ...texts]: string[], max: number): string {
	let words = first;
	for (const text of texts) {
		const more = `${words}${/[.!?:;。]$/.test(words) ? ' ' : ': '}${text}`;
		if (more.length > max) break;
		words = more;
	}
	return truncate(words, max);
}

const cut = (text: string) =>
	text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN).replace(/[\uD800-\uDBFF]$/, '')}…` : text;
