import { isJsonObject, type JsonObject } from '../json';
import { describe, FieldError, problemInId, problemInPath } from './fieldError';
import { losesDigits, parseJson, toJson } from './jsonValue';

/** Matches a number as people write it. 0x10 is not such a number. */
const IS_NUMBER = /^[-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[-+]?\d+)?$/i;

const OR_NULL =
	'Check that the item has the field that the expression refers to. If the field may be missing, use {{ $json.region ?? null }}, with its name in place of region.';

/**
 * The value that one item has in one field. The methods return it as a certain type, or throw a FieldError. The value
 * is undefined if the field's expression evaluates to undefined. It is '' or null if the user has left the field empty.
 */
export class FieldValue {
	/**
	 * @param hasGap returns whether the value is a text in which an expression evaluated to undefined; n8n replaces
	 * such an expression with nothing
	 */
	constructor(
		readonly field: string,
		private readonly value: unknown,
		private readonly hasGap = () => false,
	) {}

	/**
	 * Whether the field's expression evaluated to undefined, as `{{ $json.region }}` does for an item without that
	 * field.
	 */
	get isUndefined(): boolean {
		return this.value === undefined;
	}

	/** Whether there is no value. 0 and false are values. */
	get isMissing(): boolean {
		return this.value === undefined || this.value === null || this.value === '';
	}

	get isBlank(): boolean {
		return this.isMissing || (typeof this.value === 'string' && this.value.trim() === '');
	}

	/**
	 * Returns this value unchanged.
	 *
	 * @throws FieldError if an expression evaluated to undefined, even one that is only a part of a text
	 */
	defined(): this {
		if (!this.isUndefined && !this.hasGap()) return this;
		throw this.error('has an expression that gives nothing (undefined)', OR_NULL);
	}

	/** Returns the value as text. Converts numbers and booleans to text, and dates to ISO 8601. */
	text(): string {
		const value = this.asJson();
		if (typeof value !== 'object' || value === null) return String(value ?? '');
		const advice =
			'Enter text. If the field holds an expression, make it refer to a single value of the item.';
		throw this.unlike('not text', advice, value);
	}

	/** Returns the value as text. Converts lists and objects to JSON. */
	textOrJson(): string {
		const value = this.asJson();
		return typeof value === 'object' && value !== null ? JSON.stringify(value) : this.text();
	}

	requiredText(): string {
		if (!this.isBlank) return this.text();
		const advice =
			'Fill it in. If it holds an expression, check that the item has the field that the expression refers to.';
		throw this.error('is empty', advice);
	}

	/** Returns an ID without the spaces that copying adds around it. Refuses invisible characters. */
	id(problemIn = problemInId): string {
		// A byte order mark is not trimmed as a space, so that it is refused as an invisible character.
		const id = this.requiredText().replace(/^[^\S\ufeff]+|(?<!\s)[^\S\ufeff]+$/g, '');
		const problem = problemIn(id);
		if (problem === undefined) return id;
		throw this.error(problem, 'Enter the ID alone, as the service shows it.');
	}

	/** Returns an ID that stays one segment of a URL's path, even if a proxy or a server decodes it once more. */
	pathId(): string {
		return this.id((id) => problemInPath(id) ?? problemInId(id));
	}

	/** Returns the value as a number, or undefined if there is no value. Accepts the text of a number. */
	optionalNumber({ min = -Infinity, max = Infinity, integer = false } = {}): number | undefined {
		if (this.isMissing) return undefined;
		const text = String(this.value).trim();
		const value =
			typeof this.value === 'string' && IS_NUMBER.test(text) ? Number(text) : this.value;
		let problem: string;
		if (typeof value !== 'number' || !Number.isFinite(value)) problem = 'not a number';
		else if (value < min) problem = 'which is too small';
		else if (value > max) problem = 'which is too large';
		else if (losesDigits(text)) problem = 'which has more digits than a number can hold';
		else if (integer && !Number.isInteger(value)) problem = 'not a whole number';
		else return value;
		const from = min === -Infinity ? ', such as 3' : ` of ${min} or more`;
		const bounds = max === Infinity ? from : ` from ${min} to ${max}`;
		throw this.unlike(problem, `Enter a ${integer ? 'whole ' : ''}number${bounds}.`);
	}

	/** Returns the value as a boolean, or false if there is no value. Accepts the text of a boolean. */
	boolean(): boolean {
		return !this.isMissing && this.oneOf(['true', 'false']) === 'true';
	}

	oneOf<Choice extends string>(choices: readonly Choice[]): Choice {
		const text = this.text();
		const choice = choices.find((candidate) => candidate === text);
		if (choice !== undefined) return choice;
		throw this.unlike('not one of the choices', `Enter one of these: ${choices.join(', ')}.`);
	}

	/**
	 * Returns a list of JSON objects. Accepts JSON text, and a list from an expression. Refuses an object that has a
	 * field with the value undefined.
	 */
	jsonObjects(): JsonObject[] {
		const list = this.defined().parsedJson([]);
		const advice = 'Enter a list of objects, such as [{ "id": "input-1", "default": "5" }].';
		if (!Array.isArray(list)) throw this.unlike('not a list', advice, list);
		for (const element of this.elements()) element.refuseUndefinedFields();
		const firstWrong = list.findIndex((element) => !isJsonObject(element));
		if (firstWrong < 0) return list;
		const what = describe(list[firstWrong]);
		throw this.error(`has ${what} at position ${firstWrong + 1}, not an object`, advice);
	}

	/** Returns a JSON object. Accepts JSON text, and an object from an expression. */
	jsonObject(): JsonObject {
		const value = this.parsedJson({});
		if (isJsonObject(value)) return value;
		throw this.unlike('not an object', 'Enter an object, such as { "team": "data" }.', value);
	}

	/** Returns whether a collection has a field, even if the field is empty. */
	has(name: string): boolean {
		return isJsonObject(this.value) && name in this.value;
	}

	/**
	 * Returns a field of a collection. If the value is not a collection, the field is empty: n8n itself replaces such a
	 * value with an empty collection.
	 */
	member(name: string, field = name): FieldValue {
		const { value } = this;
		return new FieldValue(field, isJsonObject(value) && name in value ? value[name] : null);
	}

	/** Returns the records in a group of a fixed collection. */
	records(group: string): FieldValue[] {
		return this.member(group, this.field).elements();
	}

	/** Returns the elements of a list, each named by its position, counted from 1. Returns none if there is no value. */
	elements(): FieldValue[] {
		const elements = this.isMissing ? [] : [this.value].flat();
		return elements.map((element, index) => new FieldValue(`${this.field} ${index + 1}`, element));
	}

	/** Returns the value of a JSON text. Accepts a list or an object from an expression as well. */
	private parsedJson(ifBlank: unknown): unknown {
		if (this.isBlank) return ifBlank;
		const { value } = this;
		if (typeof value !== 'string') return this.asJson();
		return parseJson(value, this.field);
	}

	/** Returns the value as JSON represents it, so a date becomes ISO 8601 text. */
	private asJson(): unknown {
		if (this.value === undefined) return undefined;
		return toJson(this.value, this.field);
	}

	private refuseUndefinedFields(): void {
		const fields = Object.entries(isJsonObject(this.value) ? this.value : {});
		const [name] = fields.find(([, value]) => value === undefined) ?? [];
		if (name !== undefined) throw this.error(`has nothing (undefined) as "${name}"`, OR_NULL);
	}

	private unlike(problem: string, advice: string, value = this.value): FieldError {
		return this.error(`is ${describe(value)}, ${problem}`, advice);
	}

	private error(problem: string, advice: string): FieldError {
		return new FieldError(this.field, problem, advice);
	}
}
