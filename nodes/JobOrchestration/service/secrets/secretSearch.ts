import { ANY_SYMBOL, decodingsAt } from './decodings';
import type { Decoding } from './decodings';

/** A text by which a secret is recognised. */
export interface SecretPattern {
	text: string;
	/** Its code points. */
	chars: string[];
	/** How many of them are recognised where the rest was cut off. */
	minLength: number;
	/** Whether it is the middle of a longer word, such as base64, all of which is to go. */
	isEmbedded: boolean;
}

/** A pattern, or what is left of one from one of its characters on. */
interface Beginning {
	pattern: SecretPattern;
	from: number;
}

/** Beginnings by their first character; those whose first is no letter or digit also under ANY_SYMBOL. */
type Index = ReadonlyMap<string, Beginning[]>;

/** A part of a text, from one place up to another. */
type Range = [from: number, to: number];

/** What takes the place of a secret. */
const REDACTED = '***';

/**
 * How many steps a text may take before all of it is struck out, since a service could send one that takes for ever:
 * so many, some more for each of its characters, and one for each place at which what is left of a secret may begin.
 */
const MAX_STEPS = 50_000;
const STEPS_PER_CHARACTER = 5;

/** Where an excerpt ends or breaks off, behind what is left of an escape and what closes a quotation. */
const END = /(?:%[\da-f%]{0,8}|&[#\w]{0,8}|\\{1,8}\w{0,4})?["'`)\]}>.,]{0,3}(?:\.\.\.|…|$)/iy;

/** How many places after its beginning an excerpt may begin to be read, behind what is left of an escape. */
const MAX_SKIPPED = 6;

/** Finds patterns in texts, in whatever way they are written there. */
export class SecretSearch {
	private readonly whole: Index;
	private parts: { index: Index; count: number } | undefined;

	constructor(private readonly patterns: readonly SecretPattern[]) {
		this.whole = buildIndex(patterns.map((pattern) => ({ pattern, from: 0 })));
	}

	redact(text: string): string {
		const isPlain = !/[%&+\\]/.test(text);
		if (isPlain && !this.patterns.some((pattern) => text.includes(pattern.text))) return text;
		const found = new SecretMatcher(text, false, 0);
		for (let at = 0; at < text.length; at += 1) found.look(at, this.whole);
		return found.redacted();
	}

	redactExcerpt(text: string): string {
		const { index: parts, count } = (this.parts ??= this.indexParts());
		const found = new SecretMatcher(text, true, count);
		for (let at = 0; at < text.length; at += 1) found.look(at, this.whole);
		for (const { index, 0: mark } of text.matchAll(/^|\.\.\.|…/g)) {
			const first = index + mark.length;
			for (let at = first; at < first + MAX_SKIPPED; at += 1) found.look(at, parts);
		}
		return found.redacted();
	}

	private indexParts(): { index: Index; count: number } {
		const parts = this.patterns.flatMap(partsOf);
		return { index: buildIndex(parts), count: parts.length };
	}
}

/** What may be left of a pattern whose beginning was cut off. */
function partsOf(pattern: SecretPattern): Beginning[] {
	const count = Math.max(pattern.chars.length - pattern.minLength, 0);
	return Array.from({ length: count }, (_, before) => ({ pattern, from: before + 1 }));
}

function buildIndex(beginnings: Beginning[]): Index {
	const index = new Map<string, Beginning[]>();
	for (const beginning of beginnings) {
		const first = beginning.pattern.chars[beginning.from] ?? '';
		for (const key of isSymbol(first) ? [first, ANY_SYMBOL] : [first]) {
			const others = index.get(key);
			if (others === undefined) index.set(key, [beginning]);
			else others.push(beginning);
		}
	}
	return index;
}

function isSymbol(char: string): boolean {
	return !/^[a-z\d]$/i.test(char);
}

/** What is found in one text. */
class SecretMatcher {
	private readonly readings: Decoding[][] = [];
	private readonly ranges: Range[] = [];
	private stepsLeft: number;

	/**
	 * @param mayBreakOff whether a pattern may end where the text does
	 * @param stepsForParts see MAX_STEPS
	 */
	constructor(
		private readonly text: string,
		private readonly mayBreakOff: boolean,
		stepsForParts: number,
	) {
		this.stepsLeft = MAX_STEPS + STEPS_PER_CHARACTER * text.length + stepsForParts;
	}

	/** Notes what of the index begins at a place. */
	look(at: number, index: Index): void {
		for (const { char } of this.readingsAt(at)) {
			for (const beginning of index.get(char) ?? []) {
				const end = this.endOf(beginning, at);
				if (end === undefined) continue;
				this.ranges.push(beginning.pattern.isEmbedded ? this.wordAround(at, end) : [at, end]);
			}
		}
	}

	/** The text with all that was found struck out. */
	redacted(): string {
		if (this.stepsLeft <= 0) return REDACTED;
		let clean = '';
		let done = -1;
		for (const [from, to] of this.ranges.sort(([a], [b]) => a - b)) {
			if (from > done) clean += this.text.slice(Math.max(done, 0), from) + REDACTED;
			done = Math.max(done, to);
		}
		return clean + this.text.slice(Math.max(done, 0));
	}

	/**
	 * Where a pattern ends that begins at a place; undefined where it isn't there. A text can be read in several ways,
	 * so after each character there may be several places to go on from.
	 */
	private endOf(
		{ pattern: { chars, minLength }, from }: Beginning,
		at: number,
	): number | undefined {
		let places = [at];
		let end: number | undefined;
		for (let n = from; n < chars.length; n += 1) {
			places = this.placesAfter(places, chars[n] ?? '');
			if (places.length === 0 || this.stepsLeft <= 0) return end;
			if (this.mayBreakOff && n - from + 1 >= minLength) {
				end = places.find((place) => this.breaksOffAt(place)) ?? end;
			}
		}
		return Math.max(...places);
	}

	private placesAfter(places: number[], wanted: string): number[] {
		const after: number[] = [];
		for (const place of places) {
			this.stepsLeft -= 1;
			for (const { char, length } of this.readingsAt(place)) {
				const isWanted = char === ANY_SYMBOL ? isSymbol(wanted) : char === wanted;
				if (isWanted && !after.includes(place + length)) after.push(place + length);
			}
		}
		return after;
	}

	private breaksOffAt(place: number): boolean {
		END.lastIndex = place;
		return END.test(this.text);
	}

	private wordAround(from: number, to: number): Range {
		const isPart = (at: number) => /^[\w+/=-]$/.test(this.text.charAt(at));
		let [first, end] = [from, to];
		while (isPart(first - 1)) first -= 1;
		while (isPart(end)) end += 1;
		return [first, end];
	}

	private readingsAt(at: number): Decoding[] {
		if (at >= this.text.length) return [];
		return (this.readings[at] ??= decodingsAt(this.text, at));
	}
}
