import fc from 'fast-check';

import type { OperationId, Fault } from '../../sandbox';
import { contractOperation, type Schema } from '../../sandbox/contract/contract';

/*
 * Answers of a service: right ones, right ones but for one place, and any others. What is right, the contract says.
 */

/** An answer as it was drawn. */
export interface DrawnAnswer {
	kind: 'right' | 'spoilt' | 'any';
	/** What it says, where it is right; undefined for nothing. */
	message?: unknown;
	fault: Fault;
}

/** Names that mean something to the node, so that answers come close to what it looks for. */
const names = fc.constantFrom(
	'',
	...'metadata uid namespace displayName items continue access_token'.split(' '),
	...'message error errors msg detail data body'.split(' '),
	...'toString toJSON valueOf then length constructor __proto__'.split(' '),
);

const scalars = fc.oneof(
	fc.constant(null),
	fc.boolean(),
	fc.integer(),
	fc.double({ noNaN: true }),
	fc.string({ unit: 'binary', maxLength: 12 }),
	fc.constantFrom('', ' ', '=1+1', '{{ $json }}', 'ECONNREFUSED', 'EPERM in experiment'),
);

const { values } = fc.letrec<{ values: unknown; entries: [string, unknown] }>((tie) => ({
	values: fc.oneof(
		{ depthSize: 'small', withCrossShrink: true },
		scalars,
		fc.array(tie('values'), { maxLength: 3 }),
		fc.array(tie('entries'), { maxLength: 4 }).map((entries) => Object.fromEntries(entries)),
	),
	entries: fc.tuple(names, tie('values')),
}));

const few = { maxLength: 3, maxKeys: 3 };

const words = fc.string({ unit: 'binary', maxLength: 12 });

/** Fields of which not all that the contract allows says what a right answer is to say. */
const special: Record<string, fc.Arbitrary<unknown>> = {
	// A header must be able to carry it.
	access_token: fc.stringMatching(/^[\w.~+/-]{1,60}=?$/),
	// No page comes after: it would be another answer.
	continue: fc.constantFrom('', null),
};

/** What a service sends that keeps to the contract, with texts of all kinds. */
function messagesOf(schema: Schema): fc.Arbitrary<unknown> {
	const { type, properties, required = [], additionalProperties: others } = schema;
	const byType: Record<string, () => fc.Arbitrary<unknown>> = {
		object: () =>
			properties === undefined
				? fc.dictionary(words, typeof others === 'object' ? messagesOf(others) : values, few)
				: fc.record(
						Object.fromEntries(
							Object.entries(properties).map(([name, field]) => [
								name,
								special[name] ?? messagesOf(field),
							]),
						),
						{ requiredKeys: required },
					),
		array: () => fc.array(messagesOf(schema.items ?? {}), few),
		string: () =>
			schema.format === 'date-time'
				? fc.date({ noInvalidDate: true }).map((date) => date.toISOString())
				: words.filter(({ length }) => length >= (schema.minLength ?? 0)),
		number: () => fc.double({ noNaN: true, noDefaultInfinity: true }),
		boolean: () => fc.boolean(),
		null: () => fc.constant(null),
	};
	if (type === undefined) return fc.oneof(values, fc.constant(undefined));
	return fc.oneof(...[type].flat().map((one) => byType[one]?.() ?? values));
}

/**
 * The places in a message without which it means nothing, as paths to them: what must not be empty, and all that
 * holds it. The empty path is all of it.
 */
function neededPlaces(schema: Schema, path: string[] = []): string[][] {
	const { properties = {}, required = [], items } = schema;
	const below = [
		...required.flatMap((name) => neededPlaces(properties[name] ?? {}, [...path, name])),
		...(items === undefined ? [] : neededPlaces(items, [...path, '0'])),
	];
	const isNeeded = path.length === 0 || schema.minLength !== undefined || below.length > 0;
	return isNeeded ? [path, ...below] : [];
}

/** All places in a message. */
function placesIn(message: unknown, path: string[] = []): string[][] {
	if (typeof message !== 'object' || message === null) return [path];
	const below = Object.entries(message).flatMap(([key, value]) => placesIn(value, [...path, key]));
	return [path, ...below];
}

/** A message with another value in one place; undefined leaves the place out. */
function withOther(message: unknown, [key, ...path]: string[], other: unknown): unknown {
	if (key === undefined) return other;
	const copy: object = Array.isArray(message)
		? [...(message as unknown[])]
		: { ...Object(message) };
	Reflect.set(copy, key, withOther(Reflect.get(copy, key), path, other));
	return copy;
}

function spoiltMessage(schema: Schema): fc.Arbitrary<unknown> {
	const needed = fc.constantFrom(...neededPlaces(schema));
	return messagesOf(schema).chain((whole) =>
		fc
			.tuple(
				fc.oneof(needed, fc.constantFrom(...placesIn(whole))),
				fc.oneof(values, fc.constant(undefined)),
			)
			.map(([path, other]) => withOther(whole, path, other)),
	);
}

const anyBody = fc.oneof(
	values.map((value) => JSON.stringify(value) ?? ''),
	fc
		.record({ error: fc.record({ message: values }), message: values })
		.map((value) => JSON.stringify(value)),
	fc.string({ unit: 'binary', maxLength: 60 }),
	fc.constantFrom(...['', '{', '[1,', 'null', '"text"', '<html><title></title>', '<?xml?>']),
);

/** Each header with values of which not all can be used. */
const oddHeaders: Record<string, string[]> = {
	'content-type': [
		...['application/json', 'application/json; charset=utf-8', 'application/problem+json'],
		...['application/octet-stream', 'text/html', 'text/plain; charset=utf-16le'],
		...['text/event-stream', 'multipart/form-data', 'image/png', 'nonsense'],
	],
	'content-encoding': ['gzip', 'br', 'identity', 'nonsense'],
	'retry-after': ['0', '-1', 'soon', '9'.repeat(20), 'Thu, 01 Jan 1970 00:00:00 GMT', ''],
	location: ['/', '//', 'http://', 'mailto:a@b', '%', 'http://127.0.0.1:9/x?y#z', ''],
	'set-cookie': ['a=b'],
	'www-authenticate': ['Basic realm="x"'],
};

const headers = fc.record(
	Object.fromEntries(
		Object.entries(oddHeaders).map(([name, texts]) => [name, fc.constantFrom(...texts)]),
	),
	{ requiredKeys: [] },
) as fc.Arbitrary<Record<string, string>>;

const statuses = fc.oneof(
	fc.constantFrom(200, 201, 204, 301, 304, 400, 401, 404, 409, 500, 503),
	fc.integer({ min: 200, max: 599 }),
);

/** Whether an answer says "not now", which is waited for: test/pace. */
function isNotNow({ status, headers: sent }: { status: number; headers: object }): boolean {
	const names = Object.keys(sent).map((name) => name.toLowerCase());
	return status === 429 || (status >= 400 && status !== 401 && names.includes('retry-after'));
}

/** Answers to an operation. */
export function answersTo(operation: OperationId): fc.Arbitrary<DrawnAnswer> {
	const asJson = (message: unknown, status: number) =>
		answer({
			status,
			headers: { 'content-type': 'application/json' },
			body: JSON.stringify(message) ?? '',
		});
	const success = fc.constantFrom(200, 201);
	// Where the contract shows no answer, it may be anything.
	const schema = contractOperation(operation).answers.get(200) ?? {};
	const right = fc.tuple(messagesOf(schema), success).map(
		([message, status]): DrawnAnswer => ({
			kind: 'right',
			message,
			fault: asJson(message, status),
		}),
	);
	const spoilt = fc
		.tuple(spoiltMessage(schema), success)
		.map(([message, status]): DrawnAnswer => ({ kind: 'spoilt', fault: asJson(message, status) }));
	const anyAnswer = fc
		.record({ status: statuses, headers, body: anyBody })
		.filter((drawn) => !isNotNow(drawn))
		.map((drawn): DrawnAnswer => ({ kind: 'any', fault: answer(drawn) }));
	return fc.oneof(
		{ weight: 2, arbitrary: right },
		{ weight: 3, arbitrary: spoilt },
		{ weight: 2, arbitrary: anyAnswer },
	);
}

function answer(drawn: { status: number; headers: Record<string, string>; body: string }): Fault {
	return { kind: 'answer', when: 'beforeActing', ...drawn };
}
