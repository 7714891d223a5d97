import { isJsonObject } from '../../json';
import { truncate } from './meaning';
import { MAX_READ, type Secrets } from './secrets';

/** The most characters of the service's words in a description. */
export const MAX_SHOWN = 500;

/** The most characters of them in a title. */
const MAX_IN_TITLE = 80;

/** How deep a body is read, and how many values of it; "…" is what is left out. With more, a huge one would block n8n. */
const MAX_DEPTH = 20;
const MAX_VALUES = 1_000;

/** What a body says. Nothing if it is empty; no `words` if there is no text in it. */
export interface Said {
	/** The service's words, as many as a title has room for. */
	words?: string | undefined;
	/** All that it says: its words, quoted, or the whole body as JSON if that says more. */
	text?: string | undefined;
}

/** What a body of any shape says: its texts for people, or else all. @returns undefined if there is a secret in it */
export function saidIn(body: unknown, secrets: Secrets): Said | undefined {
	const { shown, texts, searched } = read(body);
	const json = JSON.stringify(shown) ?? '';
	if (secrets.areIn([...searched, json].join('\n'))) return undefined;
	if (texts.length === 0) return /^(?:null|""|\[\]|{})?$/.test(json) ? {} : { text: cut(json) };
	const speaking = texts.filter((text) => !IS_DATE.test(text));
	const kinds = [speaking.filter(isForPeople), speaking, texts];
	const said = unrepeated(kinds.find(({ length }) => length > 0) ?? []);
	const words = joined(said, MAX_IN_TITLE);
	const quoted = `"${cut(joined(said, MAX_READ))}"`;
	const atTop = isJsonObject(shown) ? Object.values(shown) : [shown];
	if (texts.length === 1 && atTop.includes(texts[0])) return { words, text: quoted };
	// What is cut off could be the words.
	return { words, text: json.length > MAX_SHOWN ? `${quoted}, in ${cut(json)}` : json };
}

/** A body as it is shown; its texts; and what is to be searched for secrets. */
function read(body: unknown) {
	const texts: string[] = [];
	const searched: string[] = [];
	const left = { values: MAX_VALUES, characters: MAX_READ };

	const copy = (value: unknown, depth: number): unknown => {
		left.values -= 1;
		if (left.values < 0 || left.characters === 0 || depth > MAX_DEPTH) return '…';
		if (Array.isArray(value)) {
			return value.slice(0, MAX_VALUES).map((element) => copy(element, depth + 1));
		}
		if (isJsonObject(value)) {
			const entries = Object.entries(value).slice(0, MAX_VALUES);
			return Object.fromEntries(entries.map(([key, element]) => [key, copy(element, depth + 1)]));
		}
		// More is searched than is used, so that a secret across that limit is found.
		searched.push(String(value).slice(0, left.characters + MAX_READ));
		if (typeof value !== 'string') return value;
		const text = onOneLine(value.slice(0, left.characters));
		left.characters = Math.max(0, left.characters - value.length);
		if (text !== '') texts.push(text);
		return text;
	};
	return { shown: copy(body, 0), texts, searched };
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
const isForPeople = (text: string) => /\s|(?!\p{ASCII})\p{L}/u.test(text) && !isStatusName(text);

const STATUS_NAME =
	/^(?:http )?(?:\d{3} )?(?:(?:page )?not[ _]?found|unauthori[sz]ed|forbidden|bad[ _]request|method not allowed|not (?:acceptable|implemented)|proxy authentication required|request time-?out|(?:length|payment|upgrade|precondition|network authentication) required|precondition failed|(?:payload|content|(?:request )?entity|request header fields) too large|(?:request-)?uri too long|unsupported media type|(?:requested )?range not satisfiable|expectation failed|misdirected request|unprocessable[ _](?:entity|content)|failed dependency|too early|too many requests|unavailable for legal reasons|(?:internal )?server error|bad gateway|service (?:temporarily )?unavailable|gateway time-?out|http version not supported|insufficient storage|loop detected|not extended)[.!]?$/i;

/** Whether a text is only the name of a status, such as "Bad Request". */
export const isStatusName = (text: string) => STATUS_NAME.test(text);

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

/** As many of the texts as fit, and of the first one as much as fits. */
function joined(texts: string[], max: number): string {
	const words = texts.reduce((earlier, text) => {
		const more = `${earlier}${/[.!?:;。]$/.test(earlier) ? ' ' : ': '}${text}`;
		return more.length > max ? earlier : more;
	});
	return truncate(words, max);
}

const cut = (text: string) =>
	text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN).replace(/[\uD800-\uDBFF]$/, '')}…` : text;
