import { answer } from '../support/answer';
import { pass } from '../support/clock';
import { create, numbered, useSandbox } from '../support/fixture';
import { hurry } from '../support/hurry';

/*
 * Items succeed even if a token only becomes valid some seconds after its login, because clocks differ or replicas lag,
 * or if tokens expire soon.
 */

const fixture = useSandbox();
const { callsOf } = fixture;
beforeEach(() => void hurry());

const onError = 'continueRegularOutput';
const tooEarly = answer(401, { message: 'Token used before issued' });
const jobs = () => fixture.sandbox.store.jobs.size;

/** Returns a function that returns when a token was first seen, by the clock of the node. */
function issueTimes(): (token: string | undefined) => number {
	const times = new Map<string | undefined, number>();
	return (token) => {
		const time = times.get(token) ?? performance.now();
		times.set(token, time);
		return time;
	};
}

const always = () => true;

/** Makes the service reject each token until `ms` milliseconds after it was first sent, in the calls that `isAsked`. */
function acceptAfter(ms: number, isAsked: (nOfOperation: number) => boolean = always): void {
	const issuedAt = issueTimes();
	fixture.meets('createJob', ({ token, nOfOperation }) =>
		performance.now() < issuedAt(token) + ms && isAsked(nOfOperation) ? tooEarly : undefined,
	);
}

test.each<[string, number, isAsked: (nOfOperation: number) => boolean]>([
	['becomes valid 0.5 s later', 500, always],
	['becomes valid 8 s later', 8_000, always],
	['is not known to one of two replicas for 5 s', 5_000, (n) => n % 2 === 0],
])('all jobs are created after one login, if the token %s', async (_, ms, isAsked) => {
	acceptAfter(ms, isAsked);
	await fixture.succeeds(create(), numbered(25));
	expect([jobs(), callsOf('login').length]).toEqual([25, 1]);
	expect(callsOf('createJob').length).toBeLessThanOrEqual(25 * 5);
});

test('if the token becomes valid 20 s later, the error gives the reason, and a later execution succeeds without a login', async () => {
	acceptAfter(20_000);
	const { items } = await fixture.engine.run({ parameters: create(), onError }, numbered(25));
	expect(items).toHaveLength(25);
	expect(items[0]?.json).toMatchObject({
		message: 'The service rejected the token that it had just issued: Token used before issued',
		error: {
			description: expect.stringContaining('clocks') as unknown,
			...{ httpStatus: 401, jobMayExist: false },
		},
	});
	expect(jobs()).toBe(0);
	expect(callsOf('login')).toHaveLength(1);
	pass(30_000);
	jest.spyOn(performance, 'now').mockReturnValue(performance.now() + 30_000);
	await fixture.succeeds(create(), numbered(3));
	expect(jobs()).toBe(3);
	expect(callsOf('login')).toHaveLength(1);
});

test('all jobs are created, even if tokens expire at every tenth create', async () => {
	let created = 0;
	fixture.meets('createJob', () => {
		created += 1;
		return created % 10 === 0 ? { kind: 'expireTokens' } : undefined;
	});
	await fixture.succeeds(create({ options: { concurrency: 4 } }), numbered(40));
	expect(jobs()).toBe(40);
	expect(callsOf('login').length).toBeLessThanOrEqual(1 + Math.ceil(created / 10));
});
