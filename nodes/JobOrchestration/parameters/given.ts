import type { IDataObject } from 'n8n-workflow';

/** A field that holds what it must not; the item is added by whoever knows it. */
export class FieldError extends Error {
	constructor(
		/** The field as the editor shows it. */
		readonly field: string,
		/** What is wrong with it, as the rest of a sentence that begins with the field. */
		readonly problem: string,
		/** What would be right. */
		readonly advice: string,
	) {
		super(`${field} ${problem}`);
	}
}

/**
 * What one item gives for one field: a value of unknown content, which may come from an expression, a
 * spreadsheet or a language model, and the field's name for errors. Each method returns the value as one
 * type, or throws a FieldError.
 */
export class Given {
	constructor(
		readonly field: string,
		private readonly value: unknown,
	) {}

	/** Whether nothing is given: 0 and false are something. */
	get isMissing(): boolean {
		return this.value === undefined || this.value === null || this.value === '';
	}

	/** A text; numbers and booleans are taken as they read. */
	text(): string {
		switch (typeof this.value) {
			case 'string':
				return this.value;
			case 'number':
			case 'boolean':
			case 'bigint':
				return String(this.value);
			default:
				if (this.isMissing) return '';
				throw this.error(
					`is ${kindOf(this.value)}, not a text`,
					'Give a text. If the field holds an expression, let it name one value of the item.',
				);
		}
	}

	/** A text, or the JSON of whatever else is given. */
	textOrJson(): string {
		return typeof this.value === 'object' && this.value !== null
			? JSON.stringify(this.value)
			: this.text();
	}

	/** A text with something in it. */
	requiredText(): string {
		const text = this.text();
		if (text.trim() === '') {
			throw this.error(
				'is empty',
				'Fill it in. If it holds an expression, check that the item has the field that it names.',
			);
		}
		return text;
	}

	/** An id: something that can stand in an address without changing where it leads. */
	id(): string {
		const text = this.requiredText();
		if (text === '.' || text === '..') {
			throw this.error(`is "${text}", which is no ID`, 'Give the ID as the service shows it.');
		}
		if (!isWellFormed(text)) {
			throw this.error(
				'holds half a character',
				'Give the ID as the service shows it; a text that was cut in the middle of an emoji looks so.',
			);
		}
		return text;
	}

	/** A number, also as the text of one; undefined where nothing is given. */
	optionalNumber({ least = -Infinity, whole = false } = {}): number | undefined {
		if (this.isMissing) return undefined;
		const value = typeof this.value === 'string' ? numberIn(this.value) : this.value;
		if (typeof value !== 'number' || !Number.isFinite(value)) {
			throw this.error(`is ${kindOf(this.value)}, not a number`, 'Give a number, such as 3.');
		}
		if (value < least || (whole && !Number.isInteger(value))) {
			const kind = whole ? 'whole number' : 'number';
			throw this.error(
				value < least ? `is ${value}, which is too small` : `is ${value}, not a whole number`,
				`Give a ${kind}${least === -Infinity ? '' : ` from ${least} up`}.`,
			);
		}
		return value;
	}

	/** Yes or no, also as the text of it; no where nothing is given. */
	boolean(): boolean {
		if (this.isMissing) return false;
		if (typeof this.value === 'boolean') return this.value;
		if (this.value === 'true' || this.value === 'false') return this.value === 'true';
		throw this.error(`is ${kindOf(this.value)}, not true or false`, 'Give one of them.');
	}

	/** A list of JSON objects, as JSON text or as a list from an expression. */
	jsonRecords(): IDataObject[] {
		const value = this.json([]);
		const advice = 'Give a list of objects, such as [{ "id": "input-1", "default": "5" }].';
		if (!Array.isArray(value)) throw this.error(`is ${kindOf(value)}, not a list`, advice);
		const list: unknown[] = value;
		const stray = list.findIndex((element) => !isObject(element));
		if (stray >= 0) {
			throw this.error(
				`has ${kindOf(list[stray])} at position ${stray + 1}, not an object`,
				advice,
			);
		}
		return list.filter(isObject);
	}

	/** A JSON object, as JSON text or as an object from an expression. */
	jsonObject(): IDataObject {
		const value = this.json({});
		if (!isObject(value)) {
			throw this.error(
				`is ${kindOf(value)}, not an object`,
				'Give an object, such as { "team": "data" }.',
			);
		}
		return value;
	}

	/** One of the fields of a collection. */
	member(name: string, field = name): Given {
		return new Given(field, isObject(this.value) ? this.value[name] : undefined);
	}

	/** The records of a fixed collection's group, each named with its position. */
	records(group: string): Given[] {
		const value = isObject(this.value) ? this.value[group] : undefined;
		if (value === undefined || value === null) return [];
		const list: unknown[] = Array.isArray(value) ? value : [value];
		return list.map((record, index) => new Given(`${this.field} ${index + 1}`, record));
	}

	error(problem: string, advice: string): FieldError {
		return new FieldError(this.field, problem, advice);
	}

	private json(missing: unknown): unknown {
		if (this.isMissing) return missing;
		if (typeof this.value !== 'string') return this.value;
		if (this.value.trim() === '') return missing;
		const parsed = parseJson(this.value);
		if ('problem' in parsed) {
			throw this.error(
				'is not valid JSON',
				`${parsed.problem}. Check quotes, commas and brackets.`,
			);
		}
		return parsed.value;
	}
}

function isObject(value: unknown): value is IDataObject {
	return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function numberIn(text: string): number | string {
	return text.trim() === '' ? text : Number(text);
}

function parseJson(text: string): { value: unknown } | { problem: string } {
	try {
		return { value: JSON.parse(text) };
	} catch (error) {
		return { problem: error instanceof Error ? error.message : 'It can not be read' };
	}
}

function isWellFormed(text: string): boolean {
	try {
		encodeURIComponent(text);
		return true;
	} catch {
		return false;
	}
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
			return String(value);
		default:
			return 'an object';
	}
}
