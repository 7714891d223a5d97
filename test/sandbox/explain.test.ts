import type { ErrorObject } from 'ajv/dist/2020';

import { compileCheck, requestSchemas, wrongWith } from '../../sandbox/contract/checks';
import { contractOperation, contractOperations, partAt } from '../../sandbox/contract/contract';
import { explain } from '../../sandbox/contract/explain';
import type { OperationId } from '../../sandbox';

/*
 * In what words the sandbox says what is wrong with a message, whatever the contract comes to hold.
 */

const error = (given: Partial<ErrorObject>): ErrorObject => ({
	instancePath: '/x',
	schemaPath: '',
	keyword: 'type',
	params: {},
	...given,
});

test.each([
	['', 'body'],
	['/job', 'body.job'],
	['/job/inputs/0/id', 'body.job.inputs[0].id'],
	['/inputs/10', 'body.inputs[10]'],
	['/a1', 'body.a1'],
	['/1a', "body.'1a'"],
	['/a-b', "body.'a-b'"],
	['/a~1b~0c', "body.'a/b~c'"],
])('the field at %j is %s', (instancePath, field) => {
	expect(explain('body', [error({ instancePath, keyword: 'minLength' })])).toBe(
		`${field} must not be empty`,
	);
});

test.each<[string | string[], string]>([
	['string', 'text'],
	['number', 'a number'],
	['integer', 'a whole number'],
	['boolean', 'true or false'],
	['object', 'an object'],
	['array', 'a list'],
	['null', 'null'],
	[['string', 'null'], 'text or null'],
	['function', 'function'],
])('what has to be of the type %j must be %s', (type, words) => {
	expect(explain('body', [error({ params: { type } })])).toBe(`body.x must be ${words}`);
});

test.each<[Partial<ErrorObject>, string]>([
	[{ keyword: 'required', params: { missingProperty: 'y' } }, 'body.x.y is missing'],
	[
		{ keyword: 'additionalProperties', params: { additionalProperty: 'y' } },
		'body.x.y is not a field that the contract knows',
	],
	[{ keyword: 'enum', params: { allowedValues: ['a', 'b'] } }, 'body.x must be one of a, b'],
	[{ keyword: 'minimum', params: { limit: 3 } }, 'body.x must be 3 or more'],
	[{ keyword: 'format', message: 'must match format "uri"' }, 'body.x must match format "uri"'],
	[{ keyword: 'format' }, 'body.x is wrong'],
])('%j is said as: %s', (given, words) => {
	expect(explain('body', [error(given)])).toBe(words);
});

test('what is wrong twice is said once, and each thing by itself', () => {
	const [empty, odd] = [error({ keyword: 'minLength' }), error({ keyword: 'format' })];
	expect(explain('body', [empty, odd, empty])).toBe('body.x must not be empty; body.x is wrong');
});

test('a text is no number in a body, and may be one in a query', () => {
	const schema = { type: 'object', properties: { n: { type: 'integer' } } };
	expect(compileCheck(schema, 'body')({ n: '5' })).toBe(false);
	expect(compileCheck(schema, 'querystring')({ n: '5' })).toBe(true);
});

test('a part of the contract is compiled once, and what it does not name can not be checked', () => {
	for (const operation of contractOperations) {
		expect(requestSchemas(operation).querystring).toBe(requestSchemas(operation).querystring);
	}
	expect(() => wrongWith({ $ref: 'nowhere' }, {})).toThrow();
	expect(() => contractOperation('nothing' as OperationId)).toThrow(
		"The contract has no operation 'nothing'",
	);
});

test('a part is found by its reference, whatever its name', () => {
	const document = { a: { 'b/c': { 'd~e': 7 } } };
	expect(partAt('#/a/b~1c/d~0e', document as never)).toBe(7);
});
