import type { Fault } from '../../sandbox';
import { answer } from '../support/answer';
import { create, getAll, useSandbox } from '../support/fixture';

/*
 * What a person gets to read of what the service answered.
 */

const fixture = useSandbox();

/** The description of the error that a list of clusters ends in when the service answers it so. */
async function descriptionAfter(fault: Fault, parameters = getAll()): Promise<string> {
	fixture.sandbox.faults.plan(({ operation }) => (operation === 'login' ? undefined : fault));
	const { error } = await fixture.engine.run({ parameters });
	return error?.description ?? '';
}

/** A text as an error shows it: without markup. */
const shown = (text: string) => text.replaceAll('<', '‹').replaceAll('>', '›').replaceAll('`', 'ˋ');

describe("The service's message", () => {
	test.each<[unknown, string]>([
		['one', 'one'],
		['  one  ', 'one'],
		['one\n\ttwo\r\n\r\nthree', 'one two three'],
		[{ message: 'one' }, 'one'],
		[{ error: 'one' }, 'one'],
		[{ msg: 'one' }, 'one'],
		[{ detail: 'one' }, 'one'],
		[{ details: 'one' }, 'one'],
		[{ error_description: 'one' }, 'one'],
		[{ errors: 'one' }, 'one'],
		[{ title: 'one', status: 400 }, 'one'],
		[{ title: 'one', detail: 'two' }, 'one: two'],
		[{ error: 'two', message: 'one' }, 'one: two'],
		[{ error: 'one', error_description: 'two' }, 'one: two'],
		[{ message: 'one', errors: [{ field: 'x', message: 'two' }] }, 'one: two'],
		[{ error: { message: 'one', details: ['two', 'one'] } }, 'one: two'],
		[{ message: 'one', errors: [], details: { code: 7 } }, 'one'],
		[{ message: 'one', data: 'three' }, 'one'],
		[{ message: ' ', error: 'one' }, 'one'],
		[{ message: 7, error: 'one' }, 'one'],
		[{ message: null, error: { code: 7, message: 'one' } }, 'one'],
		[[{}, { message: 'one' }], 'one'],
		[{ errors: [null, '', 'one'] }, 'one'],
		[{ errors: [{}, {}, {}, {}, 'one'] }, 'one'],
		[{ error: { error: { error: { error: 'one' } } } }, 'one'],
		[{ message: '<img src=x> <b>one</b>' }, '<img src=x> <b>one</b>'],
	])('in %j is found', async (body, message) => {
		const description = await descriptionAfter(answer(400, body));
		expect(description).toContain(`The service says: "${shown(message)}" (HTTP 400).\n`);
	});

	test.each<[unknown]>([
		[undefined],
		[null],
		[''],
		[' \n'],
		[7],
		[true],
		[{}],
		[[]],
		[{ reason: 'not this one' }],
		[{ message: 7 }],
		[{ data: { token: 'Bearer abc' } }],
		[{ message: '', error: [] }],
		[{ errors: [{}, {}, {}, {}, {}, 'the sixth'] }],
		[{ error: { error: { error: { error: { error: 'too deep' } } } } }],
	])('is missing in %j', async (body) => {
		const description = await descriptionAfter(answer(400, body));
		expect(description).toContain('The service gave no reason (HTTP 400).');
	});

	test.each([
		['x'.repeat(500), 'x'.repeat(500)],
		['x'.repeat(501), `${'x'.repeat(500)}…`],
		[`${' \n'.repeat(300)}${'y'.repeat(600)}`, `${'y'.repeat(500)}…`],
	])('is cut', async (body, message) => {
		const description = await descriptionAfter(answer(400, { message: body }));
		expect(description).toContain(`"${message}"`);
	});
});

test.each<[unknown, string]>([
	[undefined, 'nothing'],
	[null, 'nothing'],
	['', 'nothing'],
	[[], 'a list'],
	[['one'], 'a list'],
	[{}, 'an empty object'],
	[{ message: 'one' }, 'the message "one"'],
	[{ a: 1, b: 2 }, 'an object with the fields a, b'],
	[{ a: 1, b: 2, c: 3, d: 4, e: 5, f: 6 }, 'an object with the fields a, b, c, d, e'],
	['<html><title>one</title></html>', 'an HTML page'],
	['<?xml version="1.0"?><a/>', 'an HTML page'],
	['<!-- log-in --><html>', 'an HTML page'],
	['  <DIV class="login">', 'an HTML page'],
	['<3 of 5', 'the text "<3 of 5"'],
	['one\ntwo', 'the text "one two"'],
	[7, 'the text "7"'],
	[false, 'the text "false"'],
])('%j instead of a job is described as %s', async (body, words) => {
	const description = await descriptionAfter(answer(200, body), create());
	expect(description).toContain(`It sent ${shown(words)} (HTTP 200).`);
});

test.each<[string | undefined, string]>([
	['https://elsewhere.example/a/b', 'The redirect is to https://elsewhere.example/a/b (HTTP 302).'],
	[
		'https://elsewhere.example/a?b=c&d',
		'The redirect is to https://elsewhere.example/a (HTTP 302).',
	],
	['https://elsewhere.example/a#b?c', 'The redirect is to https://elsewhere.example/a (HTTP 302).'],
	['', 'The redirect is to another address (HTTP 302).'],
	[undefined, 'The redirect is to another address (HTTP 302).'],
])('a redirect to %j', async (location, said) => {
	const headers = location === undefined ? {} : { location };
	expect(await descriptionAfter(answer(302, undefined, headers))).toContain(said);
});
