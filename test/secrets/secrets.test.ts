import { Secrets } from '../../nodes/JobOrchestration/service/errors/secrets';

/*
 * The search for secrets finds every spelling of the password and of the last tokens, and doesn't mistake ordinary
 * words for a secret.
 */

const of = (password: unknown, userName = 'me') => new Secrets({ userName, password });

test.each([
	['with special characters of regular expressions', 'a.*[b', 'in a.*[b, b'],
	['with a surrogate pair', 'key🔑', 'key\\ud83d\\udd11'],
	['with a plus', 'se+ret', 'a=se%2Bret'],
	['in base64 in an address', '>>>???', 'x Pj4%2BPz8%2F y'],
])('the search finds a secret %s', (_, password, text) => {
	expect(of(password).findIn(text)).toBeDefined();
});

test.each([
	['without its last character', 'secret', 'a secre, b'],
	['in another case', 'secret', 'Secret'],
	['with another character in between', 'secret', 'sec ret'],
	['that decodes to an ordinary text', '%41%42', 'an AB'],
	['in an empty text', 'secret', ''],
])('the search does not find a secret %s', (_, password, text) => {
	expect(of(password).findIn(text)).toBeUndefined();
});

describe('A password of fewer than four characters', () => {
	test.each([
		'{"userName":"me","password":"a\\"","type":"basic"}',
		'{ "password": "a\\"" }',
		'password=a", type=basic',
		'me:a" is bad',
		Buffer.from('{"userName":"me","password":"a\\"","type":"basic"}').toString('base64'),
		`Basic ${Buffer.from('me:a"').toString('base64')}`,
	])('is found in %s', (text) => {
		expect(of('a"').findIn(text)).toBeDefined();
	});

	test.each([['a'], ['ab'], ['abc'], [''], [undefined], [1234]])(
		'%j is not found in ordinary words',
		(password) => {
			expect(
				of(password).findIn('a password is wanted; abc and 1234 and undefined'),
			).toBeUndefined();
		},
	);
});

test('the search finds the last twenty tokens, if they are texts of at least four characters', () => {
	const secrets = of('secret');
	for (const token of ['abc', '', undefined, null, 1234567, ['list-token']]) secrets.add(token);
	expect(secrets.findIn('abc undefined null 1234567 list-token')).toBeUndefined();
	for (let n = 10; n < 30; n += 1)
		for (let times = 0; times < 3; times += 1) secrets.add(`token-${n}`);
	expect(secrets.findIn('token-10') && secrets.findIn('token-29')).toBeDefined();
	secrets.add('token-30');
	expect(secrets.findIn('token-10')).toBeUndefined();
	expect(secrets.findIn('token-30') && secrets.findIn('secret')).toBeDefined();
});

test.each([
	['percent signs', '%25'.repeat(300), '%25'.repeat(400_000)],
	['backslashes', `${'\\'.repeat(100)}b`, '\\'.repeat(1_000_000)],
	['letters', `${'a'.repeat(4_000)}b`, 'a'.repeat(1_000_000)],
])('a search through a million %s takes less than half a second', (_, password, text) => {
	const since = performance.now();
	of(password).redact(text);
	expect(performance.now() - since).toBeLessThan(500);
});
