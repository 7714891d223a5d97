import type { Fault } from '../../sandbox';
import { answer } from '../support/answer';
import { create, getAll, numbered, useSandbox } from '../support/fixture';
import { hurry } from '../support/hurry';
import { batch, continuing, errorsIn, itemOf } from './batch';

/*
 * Batches succeed at services that are limited or unavailable for a while. test/pace has the rules of the rate limiter,
 * in virtual time; these tests show that the node keeps them in n8n's engine.
 */

const fixture = useSandbox();
const { callsOf, meets } = fixture;

const TOO_MANY = 'The service is receiving too many requests';
const LATER = 'Not sent: the service asks to try again later';
const FAILING = 'Not sent: the service is failing';

describe('A service with a rate limit', () => {
	test('causes no item to fail, and gets no request before its Retry-After is over', async () => {
		await fixture.start({ limits: { perSecond: 1, burst: 5, retryAfter: 5 } });
		hurry();
		const acceptedAt: number[] = [];
		meets('createJob', () => void acceptedAt.push(performance.now()));
		expect(errorsIn(await fixture.engine.run(continuing(), numbered(10)))).toEqual([]);
		expect(acceptedAt).toHaveLength(10);
		const waits = acceptedAt.slice(1).map((at, n) => at - Number(acceptedAt[n]));
		expect(Math.max(...waits)).toBeGreaterThanOrEqual(5_000);
		expect(fixture.sandbox.limits.met.turnedAway).toBeLessThanOrEqual(5);
	});

	test('delays a drop-down for only a few seconds, and the drop-down shows the reason', async () => {
		await fixture.start({ limits: { perSecond: 1 / 3_600, burst: 1, retryAfter: 6 } });
		await fixture.engine.listSearch('searchClusters');
		await expect(fixture.engine.listSearch('searchClusters')).rejects.toMatchObject({
			message: TOO_MANY,
		});
		expect(fixture.sandbox.limits.met.turnedAway).toBe(1);
	});
});

test('The Concurrency of a tool is not exceeded if an agent calls it many times at the same time', async () => {
	await fixture.start({ latency: 20 });
	const node = { parameters: batch({ concurrency: 2 }) };
	const { answers } = await fixture.engine.callTool(node, numbered(8), { atOnce: true });
	expect(answers.filter((said) => said.includes('"uid"'))).toHaveLength(8);
	expect(fixture.sandbox.limits.met.most).toBe(2);
});

test("The error of an item quotes the service's response to this item, and not to another one", async () => {
	meets('createJob', (call) => answer(429, { message: `Too many, ${itemOf(call)}` }));
	hurry();
	const runs = [
		fixture.engine.run(continuing({ concurrency: 1 }), numbered(1)),
		fixture.engine.run(continuing(), [{ n: 7 }, { n: 8 }]),
	];
	const said = (await Promise.all(runs)).flatMap(errorsIn).map((json) => JSON.stringify(json));
	expect(said.map((text) => /Too many, (\d+)/.exec(text)?.[1])).toEqual(['0', '7', '8']);
});

test('A throttled login with a Retry-After of more than a minute makes all items fail at once, and later executions without its words', async () => {
	hurry();
	meets('login', answer(429, { message: 'Ann has to wait' }, { 'retry-after': '600' }));
	const [first, ...others] = [create({ options: { concurrency: 1 } }), create(), getAll()];
	const errorAfter = async (parameters = first) => {
		const errors = errorsIn(
			await fixture.engine.run({ ...continuing(), parameters }, numbered(50)),
		);
		expect(errors).toHaveLength(50);
		const { message, error } = Object(errors.at(-1));
		return `${message}\n${Object(error).description}`;
	};
	expect(await errorAfter()).toMatch(/^.*too many requests: Ann .*\n.*asks to wait 600 s/s);
	for (const parameters of others) {
		const error = await errorAfter(parameters);
		expect(error).toMatch(/^Not sent: the service is receiving too many requests\nTry again later/);
		expect(error).toContain('Other requests were answered with HTTP 429.');
		expect(error).not.toContain('Ann');
	}
	expect(callsOf('login')).toHaveLength(1);
});

test.each<[fails: string, Fault, message: string, said: string]>([
	['breaks connections', { kind: 'break', when: 'beforeActing' }, FAILING, 'The connection broke'],
	['fails', answer(500, { message: 'out of disk' }), FAILING, 'failed to create the job: out of'],
	['answers with a page', answer(502, '<html>Bad Gateway</html>'), FAILING, 'The service failed'],
	['is busy', answer(503, { message: 'full' }, { 'retry-after': '1' }), LATER, 'try again later'],
	['accepts nothing', { kind: 'rateLimit' }, `Not sent: ${TOO_MANY.toLowerCase()}`, TOO_MANY],
])(
	'If a service %s for more than a minute, the remaining items fail, and their errors ascribe nothing of other items to them',
	async (_, fault, message, said) => {
		hurry();
		meets('createJob', ({ nOfOperation }) => {
			if (nOfOperation === 3) return answer(400, { message: 'no such template' });
			return nOfOperation > 10 ? fault : undefined;
		});
		const errors = errorsIn(await fixture.engine.run(continuing({ concurrency: 1 }), numbered(60)));
		const [refused, ...others] = errors;
		expect(refused?.message).toBe('The service refused to create the job: no such template');
		expect(JSON.stringify(refused)).not.toMatch(/waited|more attempt/);
		expect(errors).toHaveLength(60 - 9);
		const unsent = others.filter(({ message: title }) => String(title).startsWith('Not sent'));
		expect(unsent.length).toBeGreaterThan(40);
		expect(callsOf('createJob').length).toBeLessThan(60);
		for (const json of unsent) {
			expect(json).toMatchObject({ message, error: { httpStatus: null, jobMayExist: false } });
			const { description } = json.error as { description: string };
			// What is said of another request, is said to be of another request.
			expect(description).toMatch(/^Try again later\. .*\n\nAnother request failed: /s);
			expect(description).toContain(said);
			expect(description).not.toMatch(/ 0 more|waited 0 s/);
		}
	},
);
