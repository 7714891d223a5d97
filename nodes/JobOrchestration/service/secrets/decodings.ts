/** What a place in a text may stand for. */
export interface Decoding {
	/** A code point; ANY_SYMBOL where a name stands for it. */
	char: string;
	/** How much of the text says it, in UTF-16 units. */
	length: number;
}

/** What a named entity of HTML is read as: any character but a letter or a digit of ASCII. */
export const ANY_SYMBOL = 'any symbol';

/** How often an encoding may have been applied: a percent sign is `%25` after one more, `%2525` after two. */
const LAYERS = [0, 1, 2];

/** HTML's entities, which may have been through JSON or percent encoding: `&lt;`, `\u0026lt;`, `%26lt%3B`. */
const ENTITIES = LAYERS.map(
	(layers) =>
		new RegExp(
			`(?:&|%26|\\\\{1,8}u0026)(?:amp(?:;|%3B)){${layers}}(?:(?:#|%23)(?:(\\d{1,7})|x([\\da-f]{1,6}))|[a-z][a-z\\d]{1,30})(?:;|%3B)`,
			'iy',
		),
);

/** Each layer of JSON doubles backslashes: three layers write eight for one. */
const BACKSLASHES = /\\{1,8}/y;
const ESCAPE =
	/\\{1,8}(?:u(d[89ab][\da-f]{2})\\{1,8}u(d[c-f][\da-f]{2})|u([\da-f]{4})|x([\da-f]{2})|([^\w\\]))/iuy;

/**
 * What a text may say at a place: the character that stands there, and what it is read as where the text has
 * been through JSON (once or more), percent encoding, a form or HTML. `%41` is a percent sign, or an "A".
 */
export function decodingsAt(text: string, at: number): Decoding[] {
	const char = String.fromCodePoint(text.codePointAt(at) ?? 0);
	const asItIs = { char, length: char.length };
	switch (char) {
		case '%':
			return [
				asItIs,
				...LAYERS.flatMap((layers) => percentAt(text, at, layers)),
				...entitiesAt(text, at),
			];
		case '&':
			return [asItIs, ...entitiesAt(text, at)];
		case '\\':
			return [asItIs, ...backslashesAt(text, at), ...escapeAt(text, at), ...entitiesAt(text, at)];
		case '+':
			return [asItIs, { char: ' ', length: 1 }];
		default:
			return [asItIs];
	}
}

/** A code point in percent encoding: `%41`, and `%C3%B6` for one of two bytes. */
function percentAt(text: string, at: number, layers: number): Decoding[] {
	const sign = `%${'25'.repeat(layers)}`;
	const first = Number.parseInt(text.slice(at + sign.length, at + sign.length + 2), 16);
	const bytes = first < 0xc0 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
	const length = bytes * (sign.length + 2);
	const hex = text.slice(at, at + length).replaceAll(sign, '');
	if (hex.length !== 2 * bytes || !/^[\da-f]+$/i.test(hex)) return [];
	return [{ char: Buffer.from(hex, 'hex').toString(), length }];
}

function entitiesAt(text: string, at: number): Decoding[] {
	return ENTITIES.flatMap((pattern) => entityAt(text, at, pattern));
}

function entityAt(text: string, at: number, pattern: RegExp): Decoding[] {
	const match = matchAt(text, at, pattern);
	if (match === undefined) return [];
	const [{ length }, decimal, hex] = match;
	const code = decimal === undefined ? Number.parseInt(hex ?? '', 16) : Number(decimal);
	if (Number.isNaN(code)) return [{ char: ANY_SYMBOL, length }];
	return code > 0x10ffff ? [] : [{ char: String.fromCodePoint(code), length }];
}

/** A backslash, doubled by each layer of JSON. */
function backslashesAt(text: string, at: number): Decoding[] {
	const run = matchAt(text, at, BACKSLASHES)?.[0].length ?? 0;
	return [2, 4, 8].filter((length) => length <= run).map((length) => ({ char: '\\', length }));
}

/** An escape: `\"`, `\/`, `\u00f6`, `\xf6`, with as many backslashes as layers of JSON make of one. */
function escapeAt(text: string, at: number): Decoding[] {
	const match = matchAt(text, at, ESCAPE);
	if (match === undefined) return [];
	const [{ length }, high, low, unit = high, byte = unit, sign] = match;
	const units = [byte, low].flatMap((hex) => (hex === undefined ? [] : Number.parseInt(hex, 16)));
	return [{ char: sign ?? String.fromCharCode(...units), length }];
}

function matchAt(text: string, at: number, pattern: RegExp): RegExpExecArray | undefined {
	pattern.lastIndex = at;
	return pattern.exec(text) ?? undefined;
}
