import { isJsonObject, type JsonObject } from '../json';
import { describe, FieldError, problemInId, problemInPath } from './fieldError';
import { HALF_CHARACTER, losesDigits, refuseLoss, tokensIn, withoutFence } from './jsonText';

/** A number as people write it: 0x10 isn't one. */
const IS_NUMBER = /^[-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[-+]?\d+)?$/i;

const OR_NULL =
	'Check that the item has the field that the expression refers to. If the field may be missing, use {{ $json.region ?? null }}, with its name in place of region.';

/**
 * What one item has in one field. Each method returns it as one type, or throws a FieldError. An expression that gives nothing
 * is undefined; a field that the user has left empty is '' or null.
 */
export class FieldValue {
	/** @param hasGap whether it is a text in which an expression gives nothing: n8n puts nothing in its place */
	constructor(
		readonly field: string,
		private readonly value: unknown,
		private readonly hasGap = () => false,
	) {}

	/** Whether it has an expression that gives nothing, as `{{ $json.region }}` for an item without that field. */
	get isUndefined(): boolean {
		return this.value === undefined;
	}

	/** Whether there is no value; 0 and false are values. */
	get isMissing(): boolean {
		return this.value === undefined || this.value === null || this.value === '';
	}

	get isBlank(): boolean {
		return this.isMissing || (typeof this.value === 'string' && this.value.trim() === '');
	}

	/** The same, unless it has an expression that gives nothing, also as a part of a text. */
	defined(): this {
		if (!this.isUndefined && !this.hasGap()) return this;
		throw this.error('has an expression that gives nothing (undefined)', OR_NULL);
	}

	/** A text; a number or a boolean becomes one, and so does a date, in ISO 8601. */
	text(): string {
		const value = this.asJson();
		if (typeof value !== 'object' || value === null) return String(value ?? '');
		const advice =
			'Enter text. If the field holds an expression, make it refer to a single value of the item.';
		throw this.unlike('not text', advice, value);
	}

	/** A text; a list or an object becomes its JSON. */
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

	/** An ID, without the spaces that copying adds around it. Invisible characters in it are refused by name. */
	id(problemIn = problemInId): string {
		// A byte order mark isn't a space here.
		const id = this.requiredText().replace(/^[^\S\ufeff]+|(?<!\s)[^\S\ufeff]+$/g, '');
		const problem = problemIn(id);
		if (problem === undefined) return id;
		throw this.error(problem, 'Enter the ID alone, as the service shows it.');
	}

	/** An ID that stays one segment of a URL's path, even if a proxy or a server decodes it once more. */
	pathId(): string {
		return this.id((id) => problemInPath(id) ?? problemInId(id));
	}

	/** A number, or the text of one; undefined if there is no value. */
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

	/** A boolean, or the text of one; false if there is no value. */
	boolean(): boolean {
		return !this.isMissing && this.oneOf(['true', 'false']) === 'true';
	}

	oneOf<Choice extends string>(choices: readonly Choice[]): Choice {
		const text = this.text();
		const choice = choices.find((candidate) => candidate === text);
		if (choice !== undefined) return choice;
		throw this.unlike('not one of the choices', `Enter one of these: ${choices.join(', ')}.`);
	}

	/** A list of JSON objects, as JSON text or as a list from an expression. A field of theirs that is undefined is refused. */
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

	/** A JSON object, as JSON text or as an object from an expression. */
	jsonObject(): JsonObject {
		const value = this.parsedJson({});
		if (isJsonObject(value)) return value;
		throw this.unlike('not an object', 'Enter an object, such as { "team": "data" }.', value);
	}

	/** Whether a collection has a field, even an empty one. */
	has(name: string): boolean {
		return isJsonObject(this.value) && name in this.value;
	}

	/** One of the fields of a collection. n8n itself replaces what is no collection by an empty one. */
	member(name: string, field = name): FieldValue {
		const { value } = this;
		return new FieldValue(field, isJsonObject(value) && name in value ? value[name] : null);
	}

	/** The records in a group of a fixed collection. */
	records(group: string): FieldValue[] {
		return this.member(group, this.field).elements();
	}

	/** The elements of a list, each called by its position, from 1; none if there is no value. */
	elements(): FieldValue[] {
		const elements = this.isMissing ? [] : [this.value].flat();
		return elements.map((element, index) => new FieldValue(`${this.field} ${index + 1}`, element));
	}

	/** What a JSON text holds, also one in a Markdown code fence; a list or an object from an expression is one, too. */
	private parsedJson(ifBlank: unknown): unknown {
		if (this.isBlank) return ifBlank;
		if (typeof this.value !== 'string') return this.asJson();
		const text = withoutFence(this.value);
		const advice = 'Check quotes, commas and brackets.';
		const [value, sent] = this.orRefuse('is not valid JSON', advice, () => {
			const parsed: unknown = JSON.parse(text);
			return [parsed, JSON.stringify(parsed)] as const;
		});
		this.refuseChanged(text, sent, 'would lose');
		if (tokensIn(text).length === tokensIn(sent).length) return value;
		throw this.error(
			'has an object with the same name twice',
			'Remove one: only the last would be sent.',
		);
	}

	/** The value as JSON has it, so a date is ISO 8601 text. What JSON would leave out or change is refused. */
	private asJson(): unknown {
		if (this.value === undefined) return undefined;
		const advice = 'Check the expression that the field holds.';
		const convert = () => JSON.stringify(this.value, refuseLoss);
		const json = this.orRefuse("can't be sent as JSON", advice, convert);
		this.refuseChanged(json, json, 'has lost');
		return JSON.parse(json);
	}

	private refuseUndefinedFields(): void {
		const fields = Object.entries(isJsonObject(this.value) ? this.value : {});
		const [name] = fields.find(([, value]) => value === undefined) ?? [];
		if (name !== undefined) throw this.error(`has nothing (undefined) as "${name}"`, OR_NULL);
	}

	private orRefuse<Result>(problem: string, advice: string, convert: () => Result): Result {
		try {
			return convert();
		} catch (error) {
			const reason = error instanceof Error ? error.message : String(error);
			throw this.error(problem, `${reason}. ${advice}`);
		}
	}

	/** Refuses what would arrive as something else than was meant. */
	private refuseChanged(given: string, sent: string, lose: 'would lose' | 'has lost'): void {
		const number = tokensIn(given).find((token) => !token.startsWith('"') && losesDigits(token));
		if (number !== undefined) {
			const shown = number.length > 40 ? `${number.slice(0, 40)}…` : number;
			throw this.error(
				`${number === given ? 'is' : 'contains'} ${shown}, a number that ${lose} digits`,
				'Give it as text: put it in quotes where it comes from.',
			);
		}
		if (!HALF_CHARACTER.test(sent)) return;
		throw this.error(
			'contains an incomplete character, such as half of an emoji',
			'Text was cut in the middle of a character. Correct the expression or the data.',
		);
	}

	private unlike(problem: string, advice: string, value = this.value): FieldError {
		return this.error(`is ${describe(value)}, ${problem}`, advice);
	}

	private error(problem: string, advice: string): FieldError {
		return new FieldError(this.field, problem, advice);
	}
}
