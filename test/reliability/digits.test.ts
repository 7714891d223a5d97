import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

import fc from 'fast-check';

import { create } from '../support/fixture';
import { Engine } from '../support/run';
import './seed';

/*
 * Whatever JSON is given: what passes arrives digit for digit. Texts are compared, since numbers would hide what they have
 * lost, and the service here keeps what it was sent as text.
 */

let engine: Engine;
let body = '';
const service = createServer((request, response) => {
	let received = '';
	request.on('data', (chunk) => (received += String(chunk)));
	request.on('end', () => {
		const token = { access_token: 't', token_type: 'Bearer', expires_in: 3600, refresh_token: 'r' };
		const isLogin = request.url === '/oauth/login';
		if (!isLogin) body = received;
		response.setHeader('content-type', 'application/json');
		response.end(JSON.stringify(isLogin ? token : { metadata: { uid: 'a' } }));
	});
});

beforeAll(async () => {
	await new Promise<void>((resolve) => service.listen(0, '127.0.0.1', resolve));
	const { port } = service.address() as AddressInfo;
	engine = await Engine.load();
	const baseUrl = `http://127.0.0.1:${port}`;
	engine.saveCredential({ baseUrl, userName: 'digits', password: 'secret' });
});
afterAll(async () => await new Promise((resolve) => service.close(resolve)));

/** A number as text: its sign, its digits, and the power of ten that they count. */
function exactly(number: string): string {
	const [, sign = '', whole = '', fraction = '', exponent = '0'] =
		/^(-?)(\d+)(?:\.(\d+))?(?:e(.+))?$/i.exec(number) ?? [];
	let digits = BigInt(whole + fraction);
	let power = BigInt(exponent) - BigInt(fraction.length);
	if (digits === 0n) return 'number 0';
	for (; digits % 10n === 0n; digits /= 10n) power += 1n;
	return `number ${sign}${digits}e${power}`;
}

/** JSON with each number as a text that says exactly which it is. */
function parseExactly(json: string): unknown {
	const token = /"(?:[^"\\]|\\.)*"|[-\d][-+.\de]*/gi;
	const numberAsText = (part: string) => (part.startsWith('"') ? part : `"${exactly(part)}"`);
	return JSON.parse(json.replace(token, numberAsText));
}

const digits = (maxLength: number) =>
	fc.string({ unit: fc.constantFrom(...'0123456789'), minLength: 1, maxLength });

const powers = (...most: string[]) => fc.constantFrom('', '', ...most);

/** Numbers as JSON has them, by the most digits of their parts. */
const numbers = (whole: number, fraction: number, power: fc.Arbitrary<string>) =>
	fc
		.tuple(
			fc.constantFrom('', '-'),
			digits(whole).map((all) => all.replace(/^0+(?=.)/, '')),
			fc.oneof(
				fc.constant(''),
				digits(fraction).map((all) => `.${all}`),
			),
			power,
		)
		.map((parts) => parts.join(''));

const texts = fc
	.oneof(fc.string(), fc.string({ unit: fc.constantFrom(...'"\\/`{}[]:,.-1e \n\u00e9\u{1f680}') }))
	.map((text) => JSON.stringify(text));

const { object } = fc.letrec<{ object: string; value: string }>((tie) => ({
	object: fc.dictionary(texts, tie('value'), { maxKeys: 4 }).map((members) => {
		const lines = Object.entries(members).map(([key, value]) => `${key} : ${value}`);
		return `{${lines.join(',\n')}}`;
	}),
	value: fc.oneof(
		{ depthSize: 'small' },
		numbers(9, 5, powers('e2', 'E-30')),
		numbers(24, 24, powers('e99', 'E+3', 'e-310', 'E400')),
		fc.double({ noNaN: true, noDefaultInfinity: true }).map((number) => JSON.stringify(number)),
		texts,
		fc.constantFrom('null', 'true', 'false'),
		fc.array(tie('value'), { maxLength: 4 }).map((all) => `[ ${all.join(',')}]`),
		tie('object'),
	),
}));

const fences = fc.constantFrom(
	(text: string) => text,
	(text: string) => `\`\`\`json\n${text}\n\`\`\``,
);

test('JSON that passes arrives with the digits that it has', async () => {
	const counts = { passed: 0, refused: 0 };
	await fc.assert(
		fc.asyncProperty(object, fences, async (text, fence) => {
			body = '';
			const { error } = await engine.run({
				parameters: create({
					specifyParameters: 'json',
					inputsJson: fence(`[{ "id": "a", "more": ${text} }]`),
					additionalFields: { metadata: fence(text) },
				}),
			});
			if (error === undefined) {
				const { job } = parseExactly(body) as { job: object };
				expect(job).toMatchObject({ inputs: [{ id: 'a' }] });
				const sent = job as { inputs: [{ more: unknown }]; metadata: unknown };
				expect([sent.inputs[0].more, sent.metadata]).toEqual([
					parseExactly(text),
					parseExactly(text),
				]);
				counts.passed += 1;
			} else {
				expect(error.message).toMatch(/contains -?\d[\d.eE+-]*, a number that would lose digits/);
				expect(body).toBe('');
				counts.refused += 1;
			}
		}),
		{ numRuns: 400 },
	);
	expect(Math.min(counts.passed, counts.refused)).toBeGreaterThan(50);
});

test('a number of up to 15 digits passes', async () => {
	await fc.assert(
		fc.asyncProperty(numbers(8, 7, powers('e7', 'E+1', 'e-250')), async (number) => {
			const parameters = create({ additionalFields: { metadata: `{"n":${number}}` } });
			expect((await engine.run({ parameters })).error).toBeUndefined();
		}),
		{ numRuns: 100 },
	);
});

test('a long text of digits, quotes and escapes takes no long time, and no long error', async () => {
	const million = 1_000_000;
	const given = { n: '"\\'.repeat(million), digits: '1'.repeat(million), one: 1.5 };
	const metadata = JSON.stringify(given);
	await engine.run({ parameters: create({ additionalFields: { metadata } }) });
	expect(JSON.parse(body)).toMatchObject({ job: { metadata: given } });
	for (const bad of [
		'1'.repeat(million),
		`0.${'0'.repeat(million)}1`,
		`1${'0'.repeat(million)}.5`,
	]) {
		const parameters = create({ additionalFields: { metadata: `{"n":${bad}}` } });
		const { error } = await engine.run({ parameters });
		expect(error?.message).toMatch(/contains [\d.]{40}…, a number that would lose digits\.$/);
	}
});
