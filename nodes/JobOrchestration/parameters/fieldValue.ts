import type { JsonObject } from '../json';
import { isJsonObject } from '../json';

/** A field with a wrong value. Which item it is about is added later. */
export class FieldError extends Error {
	constructor(
		/** The field as the editor shows it. */
		field: string,
		/** What is wrong with it, as the rest of a sentence that begins with the field. */
		problem: string,
		/** What would be right. */
		readonly advice: string,
	) {
		super(`'${field}' ${problem}`);
	}
}

/**
 * What one item has in one field. It may come from an expression, a spreadsheet or a language model, so each
 * method checks it: it returns the value as one type, or throws a FieldError.
 */
export class FieldValue {
	constructor(
		readonly field: string,
		private readonly value: unknown,
	) {}

	/** Whether there is no value; 0 and false are values. */
	get isMissing(): boolean {
		return this.value === undefined || this.value === null || this.value === '';
	}

	/** The same, or only spaces. */
	get isBlank(): boolean {
		return this.isMissing || (typeof this.value === 'string' && this.value.trim() === '');
	}

	/** A text; a number or a boolean becomes one, and so does a date, in ISO 8601. */
	text(): string {
		const { value } = this;
		if (typeof value === 'string') return value;
		if (['boolean', 'bigint'].includes(typeof value) || Number.isFinite(value))
			return String(value);
		if (this.isMissing) return '';
		const date = isoDateOf(value);
		if (date !== undefined) return date;
		throw this.error(
			`is ${kindOf(value)}, not text`,
			'Enter text. If the field holds an expression, make it refer to a single value of the item.',
		);
	}

	/** A text; a list or an object becomes its JSON. */
	textOrJson(): string {
		if (typeof this.value !== 'object' || this.value === null || isDate(this.value)) {
			return this.text();
		}
		return this.inJson(this.value);
	}

	/** A text that is not blank. */
	requiredText(): string {
		const text = this.text();
		if (text.trim() === '') {
			throw this.error(
				'is empty',
				'Fill it in. If it holds an expression, check that the item has the field that the expression refers to.',
			);
		}
		return text;
	}

	/** An ID, as text. */
	id(): string {
		if (typeof this.value === 'number' && hasLostDigits(this.value)) {
			throw this.error(
				`is ${this.value}, a number that has lost digits`,
				'Give the ID as text: put it in quotes where it comes from.',
			);
		}
		return this.requiredText();
	}

	/** An ID that stays one segment of a URL's path, even if a proxy or a server decodes it once more. */
	pathId(): string {
		const text = this.id();
		if (/^\.{1,2}\s*(?:;|$)/.test(text)) {
			throw this.error(`is "${text}", which isn't an ID`, 'Enter the ID as the service shows it.');
		}
		const [unsafe] = UNSAFE_IN_ID.exec(text) ?? [];
		if (unsafe !== undefined) {
			throw this.error(
				`contains ${/\p{Cc}/u.test(unsafe) ? 'a control character' : `"${unsafe}"`}, which can change the address of the request`,
				'Enter the ID alone, as the service shows it.',
			);
		}
		if (!isWellFormed(text)) {
			throw this.error(
				'contains half a character',
				'Enter the ID as the service shows it. This happens when text is cut off in the middle of an emoji.',
			);
		}
		return text;
	}

	/** A number, or the text of one; undefined if there is no value. */
	optionalNumber({ min = -Infinity, integer = false } = {}): number | undefined {
		if (this.isMissing) return undefined;
		const value = typeof this.value === 'string' && !this.isBlank ? Number(this.value) : this.value;
		if (typeof value !== 'number' || !Number.isFinite(value)) {
			throw this.error(`is ${kindOf(this.value)}, not a number`, 'Enter a number, such as 3.');
		}
		if (hasLostDigits(value)) {
			throw this.error(
				`is ${kindOf(this.value)}, which is too large to be exact`,
				`Enter a number between -${Number.MAX_SAFE_INTEGER} and ${Number.MAX_SAFE_INTEGER}.`,
			);
		}
		if (value < min || (integer && !Number.isInteger(value))) {
			const kind = integer ? 'whole number' : 'number';
			throw this.error(
				value < min ? `is ${value}, which is too small` : `is ${value}, not a whole number`,
				`Enter a ${kind}${min === -Infinity ? '' : ` of ${min} or more`}.`,
			);
		}
		return value;
	}

	/** A boolean, or the text of one; false if there is no value. */
	boolean(): boolean {
		if (this.isMissing) return false;
		if (typeof this.value === 'boolean') return this.value;
		if (this.value === 'true' || this.value === 'false') return this.value === 'true';
		throw this.error(`is ${kindOf(this.value)}, not true or false`, 'Enter true or false.');
	}

	/** One of these texts. */
	oneOf<Choice extends string>(choices: readonly Choice[]): Choice {
		const text = this.text();
		const choice = choices.find((candidate) => candidate === text);
		if (choice !== undefined) return choice;
		throw this.error(
			`is ${kindOf(this.value)}, not one of the choices`,
			`Enter one of these: ${choices.join(', ')}.`,
		);
	}

	/** A list of texts; empty if there is no value. */
	texts(): string[] {
		if (this.isMissing) return [];
		const list: unknown[] = Array.isArray(this.value) ? this.value : [this.value];
		return list.map((element) => new FieldValue(this.field, element).text());
	}

	/** A list of JSON objects, as JSON text or as a list from an expression. */
	jsonObjects(): JsonObject[] {
		const value = this.json([]);
		const advice = 'Enter a list of objects, such as [{ "id": "input-1", "default": "5" }].';
		if (!Array.isArray(value)) throw this.error(`is ${kindOf(value)}, not a list`, advice);
		const list: unknown[] = value;
		const stray = list.findIndex((element) => !isJsonObject(element) || isDate(element));
		if (stray >= 0) {
			throw this.error(
				`has ${kindOf(list[stray])} at position ${stray + 1}, not an object`,
				advice,
			);
		}
		this.inJson(list);
		return list.filter(isJsonObject);
	}

	/** A JSON object, as JSON text or as an object from an expression. */
	jsonObject(): JsonObject {
		const value = this.json({});
		if (!isJsonObject(value) || isDate(value)) {
			throw this.error(
				`is ${kindOf(value)}, not an object`,
				'Enter an object, such as { "team": "data" }.',
			);
		}
		this.inJson(value);
		return value;
	}

	/** One of the fields of a collection. */
	member(name: string, field = name): FieldValue {
		return new FieldValue(field, this.collection()[name]);
	}

	/** The records in a group of a fixed collection; each is called by its position, from 1. */
	records(group: string): FieldValue[] {
		const value = this.collection()[group];
		if (value === undefined || value === null) return [];
		const list: unknown[] = Array.isArray(value) ? value : [value];
		return list.map((record, index) => new FieldValue(`${this.field} ${index + 1}`, record));
	}

	/** The fields of a collection: none if there is no value. */
	private collection(): JsonObject {
		if (this.isMissing) return {};
		if (isJsonObject(this.value) && !isDate(this.value)) return this.value;
		throw this.error(
			`is ${kindOf(this.value)}, not a group of fields`,
			'Enter its fields one by one, or an expression that gives an object of them.',
		);
	}

	error(problem: string, advice: string): FieldError {
		return new FieldError(this.field, problem, advice);
	}

	private json(missing: unknown): unknown {
		if (this.isBlank) return missing;
		if (typeof this.value !== 'string') return this.value;
		try {
			return JSON.parse(this.value);
		} catch (error) {
			const problem = error instanceof Error ? error.message : "It can't be read";
			throw this.error('is not valid JSON', `${problem}. Check quotes, commas and brackets.`);
		}
	}

	/** A value as JSON, which would leave out or change without a word what it does not know. */
	private inJson(value: unknown): string {
		let lost: string | undefined;
		let json = '';
		try {
			json = JSON.stringify(value, function (this: JsonObject, key, part: unknown) {
				lost ??= lostInJson(this[key], part);
				return part;
			});
		} catch (error) {
			lost ??= whyNoJson(error);
		}
		if (lost === undefined) return json;
		throw this.error(
			`holds ${lost}, which can't be sent`,
			'Check the expression that the field holds.',
		);
	}
}

/** Why JSON.stringify failed. */
function whyNoJson(error: unknown): string {
	if (error instanceof RangeError) return 'an object that is nested too deeply';
	const isCircular = error instanceof Error && /circular/i.test(error.message);
	return isCircular ? 'an object that contains itself' : "an object whose 'toJSON' fails";
}

/**
 * What a value is that JSON would lose; undefined for all others. Classes are told by their tag, since n8n's
 * expressions may make objects of another realm.
 *
 * @param asJson what the value's own `toJSON` makes of it; the same value where it has none
 */
function lostInJson(value: unknown, asJson: unknown): string | undefined {
	if (typeof value === 'number' && !Number.isFinite(value)) return String(value);
	if (typeof value === 'function' || typeof value === 'symbol') return `a ${typeof value}`;
	if (typeof value === 'bigint') return `the BigInt ${value}`;
	if (typeof value !== 'object' || value === null) return undefined;
	if (asJson !== value) return asJson === null ? 'an invalid date' : undefined;
	const [, tag = ''] = /^\[object (.*)\]$/.exec(Object.prototype.toString.call(value)) ?? [];
	return SENT_IN_JSON.includes(tag) ? undefined : `an object of the type ${tag}`;
}

/** Tags of the objects whose contents JSON holds. */
const SENT_IN_JSON = ['Object', 'Array', 'String', 'Number', 'Boolean'];

/**
 * What may lead a request elsewhere once a proxy or a server has decoded the ID: slashes, backslashes and control
 * characters, also percent-encoded, and a percent-encoded dot, semicolon or percent sign.
 */
const UNSAFE_IN_ID = /[/\\\p{Cc}]|%(?:2e|2f|5c|25|3b|[01][\da-f]|7f)/iu;

/** Whether a number may stand for another one: above 2^53, JavaScript can't tell all whole numbers apart. */
function hasLostDigits(value: number): boolean {
	return Math.abs(value) > Number.MAX_SAFE_INTEGER;
}

function isWellFormed(text: string): boolean {
	try {
		encodeURIComponent(text);
		return true;
	} catch {
		return false;
	}
}

/** A date in ISO 8601, JavaScript's or Luxon's, which n8n's `$now` is; undefined if a value is none. */
function isoDateOf(value: unknown): string | undefined {
	if (!isJsonObject(value) || typeof value.toJSON !== 'function') return undefined;
	try {
		const json: unknown = value.toJSON();
		return typeof json === 'string' ? json : undefined;
	} catch {
		return undefined;
	}
}

function isDate(value: unknown): boolean {
	return isoDateOf(value) !== undefined;
}

/** What a value is, in words; a short text is quoted. */
function kindOf(value: unknown): string {
	if (value === null || value === undefined) return 'nothing';
	if (Array.isArray(value)) return 'a list';
	switch (typeof value) {
		case 'string':
			return value.length > 40 ? 'a long text' : `"${value}"`;
		case 'number':
		case 'boolean':
		case 'bigint':
			return String(value);
		default:
			return isDate(value) ? 'a date' : 'an object';
	}
}
