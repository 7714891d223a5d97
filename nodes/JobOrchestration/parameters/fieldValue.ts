import type { JsonObject } from '../json';
import { isJsonObject } from '../json';

/** A field with a wrong value: "'Limit' is 0, which is too small", and what would be right. */
export class FieldError extends Error {
	constructor(
		field: string,
		problem: string,
		readonly advice: string,
	) {
		super(`'${field}' ${problem}`);
	}
}

const LEADS_AWAY = 'can change the address of the request';

/** What an ID must not be or contain, since a path could change once a proxy or a server has decoded it. */
const WRONG_IN_PATH: Array<[pattern: RegExp, problem: (found: string) => string]> = [
	[/^\.\.?\s*(;.*)?$/s, (id) => `is "${id}", which isn't an ID`],
	[/[/\\]|%(2e|2f|5c|25|3b|[01][\da-f]|7f)/i, (part) => `contains "${part}", which ${LEADS_AWAY}`],
	[/\p{Cc}/u, () => `contains a control character, which ${LEADS_AWAY}`],
	[/\p{Cs}/u, () => 'contains an incomplete character, such as half of an emoji'],
];

/** What one item has in one field. Each method returns it as one type, or throws a FieldError. */
export class FieldValue {
	constructor(
		readonly field: string,
		private readonly value: unknown,
	) {}

	/** Whether there is no value; 0 and false are values. */
	get isMissing(): boolean {
		return this.value === undefined || this.value === null || this.value === '';
	}

	get isBlank(): boolean {
		return this.isMissing || (typeof this.value === 'string' && this.value.trim() === '');
	}

	/** A text; a number or a boolean becomes one, and so does a date, in ISO 8601. */
	text(): string {
		const value = this.asJson();
		if (typeof value !== 'object' || value === null) return String(value ?? '');
		throw this.error(
			`is ${describe(value)}, not text`,
			'Enter text. If the field holds an expression, make it refer to a single value of the item.',
		);
	}

	/** A text; a list or an object becomes its JSON. */
	textOrJson(): string {
		const value = this.asJson();
		return typeof value === 'object' && value !== null ? JSON.stringify(value) : this.text();
	}

	requiredText(): string {
		if (!this.isBlank) return this.text();
		throw this.error(
			'is empty',
			'Fill it in. If it holds an expression, check that the item has the field that the expression refers to.',
		);
	}

	/** An ID, without the spaces that copying adds around it. */
	id(): string {
		if (!hasLostDigits(this.value)) return this.requiredText().trim();
		throw this.error(
			`is ${this.value}, a number that has lost digits`,
			'Give the ID as text: put it in quotes where it comes from.',
		);
	}

	/** An ID that stays one segment of a URL's path, even if a proxy or a server decodes it once more. */
	pathId(): string {
		const id = this.id();
		for (const [pattern, problem] of WRONG_IN_PATH) {
			const [found] = pattern.exec(id) ?? [];
			if (found === undefined) continue;
			throw this.error(problem(found), 'Enter the ID alone, as the service shows it.');
		}
		return id;
	}

	/** A number, or the text of one; undefined if there is no value. */
	optionalNumber({ min = -Infinity, integer = false } = {}): number | undefined {
		if (this.isMissing) return undefined;
		const value = typeof this.value === 'string' && !this.isBlank ? Number(this.value) : this.value;
		let problem: string;
		if (typeof value !== 'number' || !Number.isFinite(value)) problem = 'not a number';
		else if (hasLostDigits(value)) problem = 'which is too large to be exact';
		else if (value < min) problem = 'which is too small';
		else if (integer && !Number.isInteger(value)) problem = 'not a whole number';
		else return value;
		const bounds = min === -Infinity ? ', such as 3' : ` of ${min} or more`;
		throw this.error(
			`is ${describe(this.value)}, ${problem}`,
			`Enter a ${integer ? 'whole ' : ''}number${bounds}.`,
		);
	}

	/** A boolean, or the text of one; false if there is no value. */
	boolean(): boolean {
		return !this.isMissing && this.oneOf(['true', 'false']) === 'true';
	}

	oneOf<Choice extends string>(choices: readonly Choice[]): Choice {
		const text = this.text();
		const choice = choices.find((candidate) => candidate === text);
		if (choice !== undefined) return choice;
		throw this.error(
			`is ${describe(this.value)}, not one of the choices`,
			`Enter one of these: ${choices.join(', ')}.`,
		);
	}

	/** A list of texts; empty if there is no value. */
	texts(): string[] {
		return this.elements().map((element) => new FieldValue(this.field, element).text());
	}

	/** A list of JSON objects, as JSON text or as a list from an expression. */
	jsonObjects(): JsonObject[] {
		const list = this.parsedJson([]);
		const advice = 'Enter a list of objects, such as [{ "id": "input-1", "default": "5" }].';
		if (!Array.isArray(list)) throw this.error(`is ${describe(list)}, not a list`, advice);
		const firstWrong = list.findIndex((element) => !isJsonObject(element));
		if (firstWrong < 0) return list;
		const what = describe(list[firstWrong]);
		throw this.error(`has ${what} at position ${firstWrong + 1}, not an object`, advice);
	}

	/** A JSON object, as JSON text or as an object from an expression. */
	jsonObject(): JsonObject {
		const value = this.parsedJson({});
		if (isJsonObject(value)) return value;
		const advice = 'Enter an object, such as { "team": "data" }.';
		throw this.error(`is ${describe(value)}, not an object`, advice);
	}

	/** One of the fields of a collection. n8n itself replaces what is no collection by an empty one. */
	member(name: string, field = name): FieldValue {
		return new FieldValue(field, isJsonObject(this.value) ? this.value[name] : undefined);
	}

	/** The records in a group of a fixed collection; each is called by its position, from 1. */
	records(group: string): FieldValue[] {
		const records = this.member(group).elements();
		return records.map((record, index) => new FieldValue(`${this.field} ${index + 1}`, record));
	}

	private elements(): unknown[] {
		if (this.isMissing) return [];
		return Array.isArray(this.value) ? this.value : [this.value];
	}

	private parsedJson(ifBlank: unknown): unknown {
		if (this.isBlank) return ifBlank;
		if (typeof this.value !== 'string') return this.asJson();
		try {
			return JSON.parse(this.value);
		} catch (error) {
			const problem = error instanceof Error ? error.message : String(error);
			throw this.error('is not valid JSON', `${problem}. Check quotes, commas and brackets.`);
		}
	}

	/** The value as JSON has it, so a date is ISO 8601 text. What JSON would leave out or change is refused. */
	private asJson(): unknown {
		if (typeof this.value === 'string' || this.value === undefined) return this.value;
		try {
			return JSON.parse(JSON.stringify(this.value, refuseLoss));
		} catch (error) {
			const problem = error instanceof Error ? error.message : String(error);
			throw this.error(
				"can't be sent as JSON",
				`${problem}. Check the expression that the field holds.`,
			);
		}
	}

	private error(problem: string, advice: string): FieldError {
		return new FieldError(this.field, problem, advice);
	}
}

/** By the tag, not by the class: n8n's expressions may make objects of another realm. */
const JSON_TAG = /^\[object (Null|Undefined|Boolean|Number|String|Array|Object)\]$/;

/** For JSON.stringify: throws where JSON would leave out or change a value. @param part what `toJSON` makes of it */
function refuseLoss(this: JsonObject, key: string, part: unknown): unknown {
	const value: unknown = this[key];
	const isLost =
		(typeof part === 'number' && !Number.isFinite(part)) ||
		// An invalid date.
		(part === null && value !== null) ||
		// n8n 1.x gives it a `toJSON`.
		typeof value === 'bigint' ||
		!JSON_TAG.test(Object.prototype.toString.call(part));
	if (isLost) throw new TypeError(`JSON has nothing for ${String(value)}`);
	return part;
}

/** Whether a number may stand for another one: above 2^53, JavaScript can't tell all whole numbers apart. */
function hasLostDigits(value: unknown): value is number {
	return typeof value === 'number' && Math.abs(value) > Number.MAX_SAFE_INTEGER;
}

function describe(value: unknown): string {
	if (value === null || value === undefined) return 'nothing';
	if (typeof value === 'string') return value.length > 40 ? 'a long text' : `"${value}"`;
	if (Array.isArray(value)) return 'a list';
	return ['number', 'boolean', 'bigint'].includes(typeof value) ? String(value) : 'an object';
}
