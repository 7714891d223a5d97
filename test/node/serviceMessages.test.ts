import {
	describeBody as describeAnswer,
	failureFromResponse,
	readResponse,
} from '../../nodes/JobOrchestration/service/request/response';
import { Secrets } from '../../nodes/JobOrchestration/service/secrets/secrets';

/*
 * What a person gets to read of what the service answered.
 */

const secrets = new Secrets({ userName: 'me', password: 'open sesame' });

/** The words in a refusal with this body. */
function wordsIn(body: unknown): string | undefined {
	const failure = failureFromResponse(
		readResponse({ statusCode: 400, body, headers: {} }),
		secrets,
	);
	if (failure?.kind !== 'status') throw new Error('A 400 is a status');
	return failure.text;
}

describe('The words of the service', () => {
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
		[{ title: 'two', detail: 'one' }, 'one'],
		[{ data: 'one' }, 'one'],
		[{ body: 'one' }, 'one'],
		[{ error: 'two', message: 'one' }, 'one'],
		[{ error_description: 'two', detail: 'one' }, 'one'],
		[{ data: 'two', errors: ['one'] }, 'one'],
		[{ error: 'one', error_description: 'two' }, 'one: two'],
		[{ error: 'one', details: 'two' }, 'one: two'],
		[{ message: 'one', errors: [{ field: 'x', message: 'two' }] }, 'one: two'],
		[{ error: { message: 'one', details: ['two'] } }, 'one: two'],
		[{ message: 'one', errors: { displayName: ['is too long'] } }, 'one: displayName: is too long'],
		[{ message: 'not one', errors: ['one'] }, 'not one'],
		[{ message: 'one', errors: [], details: { code: 7 } }, 'one'],
		[{ message: 'one', title: 'two', data: 'three' }, 'one'],
		[{ message: 'one', errors: ['not open sesame'] }, 'one: not ***'],
		[
			{ title: 'Errors occurred.', errors: { Name: ['The Name field is required.'] } },
			'Errors occurred. Name: The Name field is required.',
		],
		[{ message: 'not open ses', detail: 'one' }, 'not ***: one'],
		[{ message: 'one', detail: 'sesame two' }, 'one: *** two'],
		[{ message: 'one', errors: { two: 'sesame has three' } }, 'one: two: *** has three'],
		[{ message: '', error: 'one' }, 'one'],
		[{ message: ' ', error: 'one' }, 'one'],
		[{ message: 7, error: 'one' }, 'one'],
		[{ message: null, error: { code: 7, message: 'one' } }, 'one'],
		[[{}, { message: 'one' }, 'two'], 'one'],
		[{ errors: [null, '', 'one'] }, 'one'],
		[{ errors: [{}, {}, {}, {}, 'one'] }, 'one'],
		[{ error: { error: { error: { error: 'one' } } } }, 'one'],
		['<html><head><title> one </title></head></html>', 'one'],
		['<!DOCTYPE html><title lang="en">one</title>', 'one'],
		[`<html>${' '.repeat(9_000)}<title>one</title>`, 'one'],
		['<html><body><h1>\n one </h1></body></html>', 'one'],
		['<html><title></title><h2 class="x">one</h2></html>', 'one'],
		['<h1>one</h1>', 'one'],
		['<p>The <b>one</b></p>', 'The one'],
		['{"message":"one"}', '{"message":"one"}'],
		[{ message: '<img src=x> <b>one</b>' }, '<img src=x> <b>one</b>'],
		[{ message: '<html><h1>one</h1></html>' }, 'one'],
		[{ reason: 'not one' }, 'reason: not one'],
		[{ displayName: [' is too long '] }, 'displayName: is too long'],
		[{ message: { displayName: ['is too long', 'is odd'] } }, 'displayName: is too long'],
		[
			{ error: { code: 'QUOTA', at: '2026-11-23 10:00', reason: 'none left' } },
			'reason: none left',
		],
		[
			{ violations: [{ field: 'group' }, { field: 'x', hint: 'must be short' }] },
			'hint: must be short',
		],
		[{ hint: 'not open sesame' }, 'hint: not ***'],
		['not open sesame', 'not ***'],
	])('of %j are found', (body, words) => {
		expect(wordsIn(body)).toBe(words);
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
		[{ reason: 'one' }],
		[{ message: 7 }],
		[{ data: { token: 'Bearer abc' } }],
		[{ page: '<html><body>Not this one</body></html>' }],
		[{ message: '', error: [] }],
		[{ errors: [{}, {}, {}, {}, {}, 'the sixth'] }],
		[{ error: { error: { error: { error: { error: 'too deep' } } } } }],
		['<html><body>one</body></html>'],
		['<html><title></title></html>'],
		[`<html>${' '.repeat(10_000)}<title>too far</title>`],
	])('are none in %j', (body) => {
		expect(wordsIn(body)).toBeUndefined();
	});

	test('are cut after 500 characters', () => {
		expect(wordsIn('x'.repeat(500))).toBe('x'.repeat(500));
		expect(wordsIn('x'.repeat(501))).toBe(`${'x'.repeat(500)}…`);
		expect(wordsIn({ message: `${' \n'.repeat(300)}${'y'.repeat(600)}` })).toBe(
			`${'y'.repeat(500)}…`,
		);
	});

	test('are looked for in the first 10,000 characters, without what breaks off there', () => {
		expect(wordsIn(`one${' '.repeat(9_990)}two`)).toBe('one two');
		expect(wordsIn(`one${' '.repeat(9_989)}open ses`)).toBe('one ***');
		expect(wordsIn(`one${' '.repeat(9_990)}two three four`)).toBe('one');
	});
});

describe('An answer that is not what was wanted', () => {
	test.each<[unknown, string]>([
		[undefined, 'nothing'],
		[null, 'nothing'],
		['', 'nothing'],
		[[], 'a list'],
		[['one'], 'a list'],
		[{}, 'an empty object'],
		[{ message: 'one' }, '"one"'],
		[{ a: 1, b: 2 }, 'an object with the fields a, b'],
		[{ a: 1, b: 2, c: 3, d: 4, e: 5, f: 6 }, 'an object with the fields a, b, c, d, e'],
		[{ 'open sesame': 1 }, 'an object with the fields ***'],
		['<html><title>one</title></html>', 'an HTML page'],
		['<?xml version="1.0"?><a/>', 'an HTML page'],
		['  <head>', 'an HTML page'],
		['<!-- log-in --><html>', 'an HTML page'],
		['<h1>Log in</h1>', 'an HTML page'],
		['<DIV class="login">', 'an HTML page'],
		['<noscript>Turn on JavaScript</noscript>', 'an HTML page'],
		['<pre>', 'an HTML page'],
		['<section id="login">', 'an HTML page'],
		['<problem>', 'the text "<problem>"'],
		['one\ntwo', 'the text "one two"'],
		['open sesame', 'the text "***"'],
		[7, 'the text "7"'],
		[false, 'the text "false"'],
	])('%j is described as %s', (body, words) => {
		expect(describeAnswer(body, secrets)).toBe(words);
	});
});

describe('A redirect', () => {
	test.each<[unknown, string | undefined]>([
		['https://elsewhere.example/a/b', 'https://elsewhere.example/a/b'],
		['https://elsewhere.example/a?b=c&d', 'https://elsewhere.example/a'],
		['https://elsewhere.example/a#b?c', 'https://elsewhere.example/a'],
		['/a?\nb', '/a'],
		['/open%20sesame/a', '/***/a'],
		['', undefined],
		[undefined, undefined],
		[['/a'], undefined],
	])('to %j is said to go to %s, without its query', (location, said) => {
		const redirect = readResponse({ statusCode: 302, headers: { location } });
		expect(failureFromResponse(redirect, secrets)).toEqual({
			kind: 'redirect',
			status: 302,
			location: said,
		});
	});
});

test.each([
	[199, 'status'],
	[200, undefined],
	[299, undefined],
	[300, 'redirect'],
	[399, 'redirect'],
	[400, 'status'],
	['200', 'unexpectedResponse'],
])('the status %s is a failure of the kind %s', (statusCode, kind) => {
	expect(failureFromResponse(readResponse({ statusCode }), secrets)?.kind).toBe(kind);
});

test.each([[undefined], [null], ['text'], [[]]])('%j is no answer, and no success', (response) => {
	expect(failureFromResponse(readResponse(response), secrets)).toMatchObject({
		kind: 'unexpectedResponse',
		status: null,
	});
});
