import { FieldError, FieldValue } from '../../nodes/JobOrchestration/parameters/fieldValue';

/*
 * What n8n's own engine turns away before the node sees it, and what another way in may bring all the same.
 */

test.each([
	['a list', [{ id: 'a' }, { id: 'b' }], ['a', 'b']],
	['one record in place of a list', { id: 'a' }, ['a']],
	['nothing', undefined, []],
	['null', null, []],
])('the records of a fixed collection that holds %s', (_, input, ids) => {
	const records = new FieldValue('Inputs', { input }).records('input');
	expect(records.map((record) => record.member('id').text())).toEqual(ids);
	expect(records.map(({ field }) => field)).toEqual(ids.map((__, n) => `Inputs ${n + 1}`));
});

test.each([['a text'], [['a list']], [7], [new Date(0)]])(
	'a group of fields that is %j is an error, not an empty group',
	(value) => {
		const group = new FieldValue('Inputs', value);
		expect(() => group.records('input')).toThrow(/^'Inputs' is .*, not a group of fields$/);
		expect(() => group.member('id')).toThrow(/^'Inputs' is .*, not a group of fields$/);
	},
);

test.each([[undefined], [null], ['']])('a group of fields that is %j has none', (value) => {
	expect(new FieldValue('Inputs', value).records('input')).toEqual([]);
	expect(new FieldValue('Inputs', value).member('id').isMissing).toBe(true);
});

test.each([
	[
		['a', 1, true],
		['a', '1', 'true'],
	],
	['a', ['a']],
	['', []],
	[undefined, []],
])('the texts of %j', (value, texts) => {
	expect(new FieldValue('Output Fields', value).texts()).toEqual(texts);
});

const value = (given: unknown) => new FieldValue('Field', given);

/** What is said of a value that is refused: the message, and the advice. */
function refusalOf(read: () => unknown): [string, string] {
	try {
		read();
	} catch (error) {
		if (error instanceof FieldError) return [error.message, error.advice];
	}
	throw new Error('It was taken');
}

test.each<[unknown, { min?: number; integer?: boolean }, string, string]>([
	['high', {}, 'is "high", not a number', 'Enter a number, such as 3.'],
	['1,000', {}, 'is "1,000", not a number', 'Enter a number, such as 3.'],
	['60s', {}, 'is "60s", not a number', 'Enter a number, such as 3.'],
	[-0.5, { min: 0 }, 'is -0.5, which is too small', 'Enter a number of 0 or more.'],
	[0, { min: 1, integer: true }, 'is 0, which is too small', 'Enter a whole number of 1 or more.'],
	[
		'1.5',
		{ min: 1, integer: true },
		'is 1.5, not a whole number',
		'Enter a whole number of 1 or more.',
	],
	[2.5, { integer: true }, 'is 2.5, not a whole number', 'Enter a whole number.'],
])('the number %j with %j is refused', (given, bounds, problem, advice) => {
	expect(refusalOf(() => value(given).optionalNumber(bounds))).toEqual([
		`'Field' ${problem}`,
		advice,
	]);
});

test.each<[unknown, { min?: number; integer?: boolean }, number | undefined]>([
	[1.5, {}, 1.5],
	['-2', {}, -2],
	[0, { min: 0, integer: true }, 0],
	[undefined, { min: 1 }, undefined],
])('the number %j with %j is %j', (given, bounds, number) => {
	expect(value(given).optionalNumber(bounds)).toBe(number);
});

test.each([NaN, Infinity, -Infinity])('%s is no text: an expression has failed', (number) => {
	expect(refusalOf(() => value(number).text())[0]).toBe(`'Field' is ${number}, not text`);
	expect(refusalOf(() => value(number).textOrJson())[0]).toBe(`'Field' is ${number}, not text`);
});

test('a very large whole number is text, too', () => {
	expect(value(2n ** 70n).text()).toBe('1180591620717411303424');
});

test('a date is a text, and no object', () => {
	const date = new Date(0);
	expect(value(date).text()).toBe('1970-01-01T00:00:00.000Z');
	expect(value(date).textOrJson()).toBe('1970-01-01T00:00:00.000Z');
	expect(refusalOf(() => value(date).jsonObject())[0]).toBe("'Field' is a date, not an object");
	expect(refusalOf(() => value([{}, date]).jsonObjects())[0]).toBe(
		"'Field' has a date at position 2, not an object",
	);
});

test('a date that is none is neither', () => {
	const none = new Date('soon');
	expect(refusalOf(() => value(none).text())[0]).toBe("'Field' is an object, not text");
	expect(refusalOf(() => value(none).textOrJson())[0]).toBe(
		"'Field' holds an invalid date, which can't be sent",
	);
});

const ring: Record<string, unknown> = {};
ring.self = ring;

test.each<[string, unknown]>([
	['NaN', { rate: NaN }],
	['Infinity', [1, [Infinity]]],
	['an invalid date', { due: new Date('soon') }],
	['an object of the type Set', { ids: new Set([1]) }],
	['an object of the type Map', new Map([[1, 2]])],
	['an object of the type RegExp', [/x/]],
	['a function', { run: () => 1 }],
	['a symbol', { sign: Symbol('x') }],
	['an object that contains itself', ring],
])('what JSON would lose is not sent: %s', (lost, given) => {
	const refusal = [
		`'Field' holds ${lost}, which can't be sent`,
		'Check the expression that the field holds.',
	];
	expect(refusalOf(() => value(given).textOrJson())).toEqual(refusal);
	expect(refusalOf(() => value({ given }).jsonObject())).toEqual(refusal);
	expect(refusalOf(() => value([{ given }]).jsonObjects())).toEqual(refusal);
});

test('what JSON holds is sent as it is', () => {
	const given = { list: [1, 'a', true, null], none: undefined, at: new Date(0), nested: { a: {} } };
	const json = '{"list":[1,"a",true,null],"at":"1970-01-01T00:00:00.000Z","nested":{"a":{}}}';
	expect(value(given).textOrJson()).toBe(json);
	expect(value(given).jsonObject()).toBe(given);
	expect(value([given]).jsonObjects()).toEqual([given]);
});

test.each<[unknown, string]>([
	[null, 'nothing'],
	[[1], 'a list'],
	[true, 'true'],
	[7, '7'],
	[7n, '7'],
	['x'.repeat(40), `"${'x'.repeat(40)}"`],
	['x'.repeat(41), 'a long text'],
])('a record that is %j is refused, by its position', (stray, name) => {
	const [message] = refusalOf(() => value([stray, {}]).jsonObjects());
	expect(message).toBe(`'Field' has ${name} at position 1, not an object`);
});

test('JSON without a value is an empty list, or an empty object', () => {
	expect(value(' ').jsonObjects()).toEqual([]);
	expect(value(undefined).jsonObject()).toEqual({});
});

test('JSON that can not be read says where it ends to make sense', () => {
	expect(refusalOf(() => value('[{').jsonObjects())).toEqual([
		"'Field' is not valid JSON",
		expect.stringMatching(
			/^Expected .+ in JSON at position 2.*\. Check quotes, commas and brackets\.$/s,
		),
	]);
});
