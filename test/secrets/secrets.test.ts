import { Secrets } from '../../nodes/JobOrchestration/service/errors/secrets';
import { PASSWORD, spellings } from './spellings';

/*
 * The search for secrets finds the password and the two newest tokens as they are, in JSON and percent-encoded.
 */

const of = (password: string) => new Secrets(password);

test.each([
	[true, 'with special characters of regular expressions', 'a.*[b', 'in a.*[b, b'],
	[true, 'with a surrogate pair', 'key🔑', 'key\\ud83d\\udd11'],
	[true, 'in JSON within a text in JSON', 'a"b', JSON.stringify(JSON.stringify('a"b'))],
	[true, 'with a plus sign, in a path', 'p+ss wörd', `/login/${encodeURI('p+ss wörd')}`],
	[true, 'with a plus sign, in a form', 'p+ss word', 'password=p%2Bss+word'],
	[true, 'with a space at its end, trimmed', 'secret ', 'in secret'],
	[true, 'that is cut off after 10,000 characters', 'ab'.repeat(6_000), 'ab'.repeat(5_000)],
	[true, 'of a single character', 'x', '{"password":"x"}'],
	[false, 'without its last character', 'secret', 'a secre, b'],
	[false, 'in another case', 'secret', 'Secret'],
	[false, 'with another character in between', 'secret', 'sec ret'],
	[false, 'that decodes to an ordinary text', '%41%42', 'an AB'],
	[false, 'in an empty text', 'secret', ''],
	[false, 'that is empty', '', 'a text'],
])('whether the search finds a secret (%s): one %s', (isFound, _, password, text) => {
	expect(of(password).areIn(text)).toBe(isFound);
	expect(of(password).redact(text)).toBe(isFound ? '(not shown: contains a secret)' : text);
});

test.each(spellings)('the search finds a secret in %s', (_, spell) => {
	const answer = { message: `before ${spell(PASSWORD)} behind` };
	for (const text of [answer.message, JSON.stringify(answer)]) {
		expect(of(PASSWORD).areIn(text)).toBe(true);
	}
});

test('the search finds the two newest tokens', () => {
	const secrets = of('secret');
	for (const token of ['one', 'two', 'one', 'three']) secrets.add(token);
	const found = ['one', 'two', 'three', 'secret'].filter((text) => secrets.areIn(text));
	expect(found).toEqual(['one', 'three', 'secret']);
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
