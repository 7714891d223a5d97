import { isJsonObject } from '../../json';
import { truncate } from '../../texts';
import { textsOfPage } from './page';
import { MAX_READ, type Secrets } from './secrets';

/** The most characters of the service's words in a description. */
export const MAX_SHOWN = 500;

/** The most characters of them in a title. */
const MAX_IN_TITLE = 80;

/** How deep a body is read, and how many values of it; "…" is what is left out. With more, a huge one would block n8n. */
const MAX_DEPTH = 20;
const MAX_VALUES = 1_000;

/** What the body of an answer says. Nothing if it is empty; no `words` if there is no text in it. */
export interface Said {
	/** The service's words, as many as a title has room for. */
	words?: string | undefined;
	/** All that it says: its words, quoted, or the whole body as JSON if that says more. */
	text?: string | undefined;
	/** Whether the words are only the name of the answer's status. */
	isStatusName?: boolean;
	/** Why neither is shown. */
	withheld?: string;
}

interface Reading {
	secrets: Secrets;
	status: number;
	/** The answer's reason phrase. Some services put their message there, others leave it empty. */
	statusMessage: string;
	/** Whether any text of it may be a token, unless it is clearly a message. */
	isSecret?: boolean;
}

/** What a body says that isn't a web page: its texts for people, or else all. */
export function saidIn(body: unknown, reading: Reading): Said {
	const { shown, texts, searched } = read(body, reading.isSecret === true);
	const json = JSON.stringify(shown) ?? '';
	const withheld = secretIn([...searched, json], reading);
	if (withheld !== undefined) return withheld;
	if (texts.length === 0) return /^(?:null|""|\[\]|{})?$/.test(json) ? {} : { text: cut(json) };
	const speaking = texts.filter((text) => !IS_DATE.test(text));
	const isForPeople = (text: string) => IS_SENTENCE.test(text) && saysMore(text, reading);
	const kinds = [speaking.filter(isForPeople), speaking, texts];
	const said = quotationOf(kinds.find(({ length }) => length > 0) ?? [], reading);
	const atTop = isJsonObject(shown) ? Object.values(shown) : [shown];
	if (texts.length === 1 && atTop.includes(texts[0]) && !json.includes('"…"')) return said;
	// What is cut off could be the words.
	return { ...said, text: json.length > MAX_SHOWN ? `${said.text}, in ${cut(json)}` : json };
}

/** What a web page says, from its title or its first heading on, if that is more than the answer's status. */
export function saidOnPage(page: string, reading: Reading): Said {
	const texts = textsOfPage(page).map(onOneLine);
	const lines = texts.filter((text) => saysMore(text, reading));
	if (lines.length === 0) return {};
	const sentences = lines.filter((text) => IS_SENTENCE.test(text));
	// A page can spell a secret in parts, with entities, or on several lines.
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

/** Where a login's answer has a message, and not a token. */
const OF_MESSAGES = ['message', 'error', 'msg'];

/** A body as it is shown; its texts; and what is to be searched for secrets. */
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
		// More is searched than is used, so that a secret across that limit is found.
		searched.push(String(value).slice(0, left.characters + MAX_READ));
		if (typeof value !== 'string') return value;
		const text = onOneLine(value.slice(0, left.characters));
		left.characters = Math.max(0, left.characters - value.length);
		if (text !== '') texts.push(text);
		return text;
	};
	return { shown: isSecret && !isJsonObject(body) ? null : copy(body, 0), texts, searched };
}

/** Where the stack trace of Java, .NET and JavaScript begins; of PHP; of Go. */
const FRAME =
	/(?:^\s*|\n[ \t]+)at (?:async |new )?(?=[^\s(]+(?: \[[^\]\n]+\])? ?\(|\S+:\d+)|\n#0 |\ngoroutine \d/;

/** A text on one line. A stack trace ends with its first line, Python's begins with its last. */
function onOneLine(text: string): string {
	const [message = ''] = text
		.replace(/^Traceback \(most recent call last\):.*\n(?=\S)/s, '')
		.split(FRAME, 1);
	return message.replace(/[\s\p{Cc}]+/gu, ' ').trim();
}

/** Whether a text is for people. Words without a space, such as invalid_group, are for programs, but in ASCII only. */
const IS_SENTENCE = /\s|(?!\p{ASCII})\p{L}/u;

/** The names of the usual statuses: n8n doesn't let a node import those of Node.js. Of others, the reason phrase is the name. */
const STATUS_NAMES: Partial<Record<number, string>> = {
	...{ 400: 'bad request', 401: 'unauthorized', 403: 'forbidden', 404: 'not found' },
	...{ 405: 'method not allowed', 409: 'conflict', 413: 'payload too large' },
	...{ 422: 'unprocessable entity', 429: 'too many requests', 500: 'internal server error' },
	...{ 502: 'bad gateway', 503: 'service unavailable', 504: 'gateway timeout' },
};

/** Whether a text says more than the status of its answer, as "HTTP Status 404 – Not Found" and "Error 400" don't. */
function saysMore(text: string, { status, statusMessage }: Reading): boolean {
	const phrase = statusMessage.toLowerCase().trim();
	const name = STATUS_NAMES[status] ?? phrase;
	// "Request Entity Too Large" is the name of a 413, "No valid crumb was included" is a message.
	const isName = phrase.split(/\W/).some((word) => word !== '' && name.includes(word));
	const words = text
		.toLowerCase()
		.replaceAll('_', ' ')
		.replaceAll(name || ' ', ' ');
	const others = isName ? words.replaceAll(phrase, ' ') : words;
	return /\p{L}/u.test(others.replace(/\b(?:http|error|status|code|page)\b/g, ' '));
}

/** A date or a number says nothing in a title. */
const IS_DATE = /^[-\d\s:.,+TZ]+$/;

/** Texts without those that only repeat an earlier one, also behind the class of an exception. */
function unrepeated(texts: string[]): string[] {
	const different: string[] = [];
	// More than one in two characters doesn't fit.
	for (const text of texts.slice(0, MAX_SHOWN / 2)) {
		const isRepeated = different.some((other) => other.includes(text) || text.endsWith(other));
		if (!isRepeated) different.push(text);
	}
	return different;
}

/** As many of the texts as fit, in order, and of the first one as much as fits. */
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
