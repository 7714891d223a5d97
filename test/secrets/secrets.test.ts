import { randomBytes } from 'node:crypto';

import { Secrets } from '../../nodes/JobOrchestration/service/secrets/secrets';

/*
 * What is struck out of a text, to the character, and what is left of it.
 */

/** Secrets of an account with this password. */
const of = (password: string, userName = 'me') => new Secrets({ userName, password });

describe('A whole secret', () => {
	test.each([
		['as it is', 'secret', 'a secret, b', 'a ***, b'],
		['each time', 'secret', 'secret secret', '*** ***'],
		['twice in a row', 'secret', 'a secretsecret b', 'a *** b'],
		['that overlaps itself', 'abcabc', '-abcabcabc-', '-***-'],
		['alone', 'secret', 'secret', '***'],
		['with signs of a pattern', 'a.*[b', 'a.*[b axxb', '*** axxb'],
		['with a pair of surrogates', 'key🔑', 'is key🔑!', 'is ***!'],
		['with half a pair, as it is sent', 'half\ud83d.', 'is half\ufffd.!', 'is ***!'],
		['with half a pair, in JSON', 'half\ud83d.', 'is half\\ud83d.!', 'is ***!'],
		['in quotes', 'se"ret', '{"a":"se\\"ret"}', '{"a":"***"}'],
		[
			'in quotes within quotes',
			'se"ret',
			'"{\\"a\\":\\"se\\\\\\"ret\\"}"',
			'"{\\"a\\":\\"***\\"}"',
		],
		['with a backslash', 'se\\ret', 'a se\\\\ret b', 'a *** b'],
		['with a backslash, twice', 'se\\ret', 'a se\\\\\\\\ret b', 'a *** b'],
		['with a backslash, three times', 'se\\ret', `a se${'\\'.repeat(8)}ret b`, 'a *** b'],
		['with a backslash before a quote', 'se\\"et', 'a se\\\\\\"et b', 'a *** b'],
		['with slashes', 'se/ret', 'a se\\/ret b', 'a *** b'],
		['with slashes, twice', 'se/ret', 'a se\\\\\\/ret b', 'a *** b'],
		['with a line break', 'se\nret', 'a se\\nret b', 'a *** b'],
		['with a line break, twice', 'se\nret', 'a se\\\\nret b', 'a *** b'],
		['with other controls', '\b\f\r\tret', 'a \\b\\f\\r\\tret b', 'a *** b'],
		['in escapes', 'söcret', 'a s\\u00f6cret b', 'a *** b'],
		['in escapes of upper case', 'söcret', 'a s\\u00F6cret b', 'a *** b'],
		['in escapes, twice', 'söcret', 'a s\\\\u00f6cret b', 'a *** b'],
		['in an escaped pair', 'key🔑', 'a key\\ud83d\\udd11 b', 'a *** b'],
		['in an escaped pair, twice', 'key🔑', 'a key\\\\uD83D\\\\uDD11 b', 'a *** b'],
		['in an escape of a letter', 'secret', 'a \\u0073ecret b \\x73ecret c', 'a *** b *** c'],
		['in an escape of a byte', 'söcret', 'a s\\xf6cret b', 'a *** b'],
		['in percent encoding', 'se/rö<🔑', 'a se%2Fr%C3%B6%3C%F0%9F%94%91 b', 'a *** b'],
		['in lower case', 'se/rö<🔑', 'a se%2fr%c3%b6%3c%f0%9f%94%91 b', 'a *** b'],
		['in percent encoding of three bytes', 'se€ret', 'a se%E2%82%ACret b', 'a *** b'],
		[
			'in percent encoding of the first three bytes',
			'se\u0800ret',
			'a se%E0%A0%80ret b',
			'a *** b',
		],
		['in percent encoding twice', 'se/rö', 'a se%252Fr%25C3%25B6 b', 'a *** b'],
		['in percent encoding three times', 'se/rö', 'a se%25252Fr%2525C3%2525B6 b', 'a *** b'],
		['with a percent sign', '100%25', 'a 100%25 b 100%2525 c 100%252525 d', 'a *** b *** c *** d'],
		['with a percent sign as it is', 'a%4xyz', 'a a%4xyz b', 'a *** b'],
		['in a form', 'se ret', 'a=se+ret&b=c', 'a=***&b=c'],
		['with a plus', 'se+ret', 'a se+ret b', 'a *** b'],
		['in HTML', 'a&b<c>d"e\'', 'x a&amp;b&lt;c&gt;d&quot;e&apos; y', 'x *** y'],
		['in HTML of HTML', 'a&b<c>', 'x a&amp;amp;b&amp;lt;c&amp;gt; y', 'x *** y'],
		['in HTML, three times', 'abc<', 'x abc&amp;amp;lt; y', 'x *** y'],
		['that looks like HTML', 'a&lt;b', 'x a&lt;b y a&amp;lt;b z', 'x *** y *** z'],
		['in entities', 'ab<🔑', 'x &#97;&#98;&#60;&#128273; y', 'x *** y'],
		['in entities of hex', 'ab<🔑', 'x &#x61;&#X62;&#x3C;&#x1F511; y', 'x *** y'],
		['in an entity of the highest code', 'sec\u{10ffff}', 'x sec&#x10FFFF; y', 'x *** y'],
		['in entities within JSON', 'abc<', 'x abc\\u0026lt; y abc\\\\u0026#60; z', 'x *** y *** z'],
		['in entities in an address', 'abc<', 'x abc%26lt%3B y abc%26%2360%3b z', 'x *** y *** z'],
		['behind a named entity', '<abc', 'x &lt;abc y', 'x *** y'],
		['in hex', 'söcret', 'x 73c3b663726574 y', 'x *** y'],
		['in hex of upper case', 'söcret', 'x 73C3B663726574 y', 'x *** y'],
		['amid hex', 'secret', 'x 00736563726574ff y', 'x *** y'],
		['in base64', 'secret', 'x c2VjcmV0 y', 'x *** y'],
		['in base64 with padding', 'secrets', 'x c2VjcmV0cw== y', 'x *** y'],
		['in base64 behind one byte', 'secret', 'x P3NlY3JldA== y', 'x *** y'],
		['in base64 behind two', 'secret', 'x Pz9zZWNyZXQ= y', 'x *** y'],
		['in base64 with + and /', '>>>???', 'x Pj4+Pz8/ y', 'x *** y'],
		['in base64 with several of each', '>>>>>>??????', 'x Pj4+Pj4+Pz8/Pz8/ y', 'x *** y'],
		['in base64url', '>>>???', 'x Pj4-Pz8_ y', 'x *** y'],
		['amid base64url', 'secret', 'x ----c2VjcmV0---- y', 'x *** y'],
		['in base64 in an address', '>>>???', 'x Pj4%2BPz8%2F y', 'x *** y'],
		['in base64 of JSON', 'a"b"c', 'x eyJwIjoiYVwiYlwiYyJ9 y', 'x *** y'],
		['of four characters in base64', 'abcd', 'YWJjZA== P2FiY2Q= Pz9hYmNk', '*** *** ***'],
	])('is struck out %s', (_, password, text, left) => {
		expect(of(password).redact(text)).toBe(left);
		expect(of(password).redactExcerpt(text)).toBe(left);
	});

	test.each([
		['without its last character', 'secret', 'a secre, b'],
		['in another case', 'secret', 'in another Secret, b'],
		['with something between', 'secret', 'a sec ret, b'],
		['where a letter has an entity', 'secret', 'a s&eacute;cret, b'],
		['where a code is too high', 'sec<', 'a sec&#x110000; b'],
		['where percent encoding is none', 'sec<', 'a sec%3 b sec%3g c'],
		['where percent encoding breaks off', 'secö', 'a sec%C3 b sec%C3%3C c'],
		['where an escape is none', 'secö', 'a sec\\u00f b sec\\xf c'],
		['where there are too many backslashes', 'se\\ret', `a se${'\\'.repeat(20)}ret b`],
		['in nothing', 'secret', ''],
	])('is not seen %s', (_, password, text) => {
		expect(of(password).redact(text)).toBe(text);
		expect(of(password).redactExcerpt(text)).toBe(text);
	});
});

describe('What is left of a secret', () => {
	test.each([
		['its beginning at the end', 'secretive', 'bad: secr', 'bad: ***'],
		['its beginning, in quotes that close', 'secretive', 'bad: "secr".', 'bad: "***".'],
		['its beginning before an ellipsis', 'secretive', 'secr… is bad', '***… is bad'],
		['its beginning before three dots', 'secretive', 'secr... is bad', '***... is bad'],
		['its beginning, before half an escape', 'secr/tive', 'bad: secr%2', 'bad: ***%2'],
		['its beginning, before half a code', 'secr/tive', 'bad: secr\\u00', 'bad: ***\\u00'],
		['its beginning, before half an entity', 'secr/tive', 'bad: secr&#4', 'bad: ***&#4'],
		[
			'its beginning, before most of a character',
			'secr\u00e6tive',
			'bad: secr%C3%A',
			'bad: ***%C3%A',
		],
		[
			'its beginning, before half a doubled code',
			'secr/tive',
			'bad: secr\\\\u00',
			'bad: ***\\\\u00',
		],
		['its end at the beginning', 'secretive', 'tive is bad', '*** is bad'],
		['its end in quotes', 'secretive', '"tive" is bad', '"***" is bad'],
		['its end after an ellipsis', 'secretive', 'a …tive is bad', 'a …*** is bad'],
		['its end after three dots', 'secretive', 'a ...tive is bad', 'a ...*** is bad'],
		['its end, after half an escape', 'secr/tive', '2Ftive is bad', '2F*** is bad'],
		['its end, after most of a code', 'secr/tive', 'u002ftive is bad', 'u002f*** is bad'],
		['its end, after dots and most of a code', 'secr/tive', 'a ...u002ftive', 'a ...u002f***'],
		['its end, encoded', 'secr/t<ve', '%2Ft%3Cve is bad', '*** is bad'],
		['its middle alone', 'secretive', 'creti', '***'],
		['its middle between ellipses', 'secretive', 'a …creti… b', 'a …***… b'],
		['the beginning of its base64', 'secretive', 'bad: c2Vjcm', 'bad: ***'],
		['the end of its base64', 'secretive', 'V0aXZl is bad', '*** is bad'],
		['the beginning of its hex', 'secretive', 'bad: 73656372', 'bad: ***'],
	])('is struck out of an excerpt: %s', (_, password, text, left) => {
		expect(of(password).redactExcerpt(text)).toBe(left);
		expect(of(password).redact(text)).toBe(text);
	});

	test('is struck out beside all of it', () => {
		expect(of('secretive').redactExcerpt('tive, not secretive')).toBe('***, not ***');
	});

	test.each([
		['less than four characters at the end', 'secretive', 'bad: sec'],
		['less than four characters at the beginning', 'secretive', 'ive is bad'],
		['less than four characters of its middle', 'secretive', 'ret'],
		['its beginning amid the text', 'secretive', 'the secrets are bad'],
		['its end amid the text', 'secretive', 'what is creative is bad'],
		['its end, too far from the beginning', 'secretive', '123456tive is bad'],
		['too little base64 at the end', 'secretive', 'bad: c2Vjc'],
		['too little hex at the end', 'secretive', 'bad: 7365637'],
	])('is not seen: %s', (_, password, text) => {
		expect(of(password).redactExcerpt(text)).toBe(text);
	});
});

describe('A password of fewer than four characters', () => {
	test.each([
		['the body of the log-in', '{"userName":"me","password":"a\\"","type":"basic"}', '***'],
		['JSON', '{"password":"a\\""}', '{***}'],
		['spaced JSON', '{ "password": "a\\"" }', '{ *** }'],
		['a list of fields', 'password=a", type=basic', '***, type=basic'],
		['a user and a password', 'me:a" is bad', '*** is bad'],
		[
			"base64 of the log-in's body",
			Buffer.from('{"userName":"me","password":"a\\"","type":"basic"}').toString('base64'),
			'***',
		],
		[
			'base64 of a user and a password',
			`Basic ${Buffer.from('me:a"').toString('base64')}`,
			'Basic ***',
		],
	])('is struck out of %s', (_, text, left) => {
		expect(of('a"').redact(text)).toBe(left);
	});

	test('is left in words, which would say what is missing', () => {
		const text = 'a password is wanted; abc is too short';
		for (const password of ['a', 'ab', 'abc']) expect(of(password).redact(text)).toBe(text);
	});

	test('is looked for as any other, from four characters on', () => {
		expect(of('abcd').redact('abcd')).toBe('***');
		expect(of('🔑🔑🔑').redact('🔑🔑🔑')).toBe('🔑🔑🔑');
	});

	test('that is empty, or none at all, takes nothing away', () => {
		const text = '{"userName":"me","password":"","type":"basic"} me: password=';
		expect(of('').redact(text)).toBe(text);
		expect(new Secrets({}).redact('undefined')).toBe('undefined');
		expect(new Secrets({ password: 1234 }).redact('1234')).toBe('1234');
	});
});

describe('Tokens', () => {
	test('are struck out from when they are known, the earlier ones too', () => {
		const secrets = of('secret');
		expect(secrets.redact('token-1 token-2 secret')).toBe('token-1 token-2 ***');
		secrets.add('token-1');
		expect(secrets.redact('token-1 token-2 secret')).toBe('*** token-2 ***');
		secrets.add('token-2');
		expect(secrets.redact('token-1 token-2 secret')).toBe('*** *** ***');
		expect(secrets.redactExcerpt('token-1 token-2 secret')).toBe('*** *** ***');
	});

	test('the last twenty are remembered, those that come again counted once', () => {
		const secrets = of('secret');
		for (let n = 10; n < 30; n += 1)
			for (let times = 0; times < 3; times += 1) secrets.add(`token-${n}`);
		expect(secrets.redact('token-10 token-29')).toBe('*** ***');
		secrets.add('token-30');
		expect(secrets.redact('secret token-10 token-11 token-30')).toBe('*** token-10 *** ***');
	});

	test('of fewer than four characters are left', () => {
		const secrets = of('');
		secrets.add('abc');
		expect(secrets.redact('abc')).toBe('abc');
	});

	test.each([[''], [undefined], [null], [1234567], [['token']]])(
		'are texts: %j is none',
		(token) => {
			const secrets = of('');
			secrets.add(token);
			expect(secrets.redact('undefined null 1234567 token')).toBe('undefined null 1234567 token');
		},
	);
});

describe('A text that would take for ever', () => {
	test.each([
		['one letter', 'a'.repeat(4_000) + 'b', 'a'.repeat(10_000)],
		['percent signs', '%25'.repeat(300), '%25'.repeat(3_300)],
		['backslashes', `${'\\'.repeat(100)}b`, '\\'.repeat(10_000)],
	])('of %s is struck out as a whole', (_, password, text) => {
		expect(of(password).redactExcerpt(text)).toBe('***');
	});

	test('is not one beside twenty long tokens', () => {
		const secrets = of('quick fox');
		for (let n = 0; n < 20; n += 1) secrets.add(randomBytes(1_125).toString('base64url'));
		const text = 'displayName: must be unique... see the log for more…';
		expect(secrets.redactExcerpt(text)).toBe(text);
	});

	test('is not one that is only long', () => {
		const text = 'The quick brown fox & 100 %. '.repeat(30_000);
		expect(of('quick fox').redact(text) === text).toBe(true);
	});
});
