import { answer } from '../support/answer';
import { MINUTE_MS, pass } from '../support/clock';
import { change, create, getAll, numbered, useSandbox } from '../support/fixture';
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

/**
 * Makes the service reject each token until `ms` milliseconds after it was first sent.
 *
 * @param isAsked returns whether the service rejects the token for this operation
 */
function acceptAfter(ms: number, isAsked = (_operation: string) => true): void {
	const issuedAt = issueTimes();
	fixture.meets('others', ({ operation, token }) => {
		if (!isAsked(operation)) return undefined;
		return performance.now() < issuedAt(token) + ms ? tooEarly : undefined;
	});
}

test.each([500, 1_500, 3_000, 5_000, 8_000])(
	'all jobs are created after one login, if the token becomes valid %i ms later',
	async (ms) => {
		acceptAfter(ms);
		await fixture.succeeds(create(), numbered(50));
		expect([jobs(), callsOf('login').length]).toEqual([50, 1]);
		expect(callsOf('createJob').length).toBeLessThanOrEqual(50 * 5);
	},
);

test('all jobs are created after one login, if one of two replicas does not know the token for some seconds', async () => {
	const issuedAt = issueTimes();
	fixture.meets('createJob', ({ token, nOfOperation }) =>
		nOfOperation % 2 === 0 && performance.now() < issuedAt(token) + 5_000 ? tooEarly : undefined,
	);
	await fixture.succeeds(create(), numbered(50));
	expect([jobs(), callsOf('login').length]).toEqual([50, 1]);
});

test('lists and state changes also wait for a token that becomes valid later', async () => {
	acceptAfter(3_000);
	await fixture.succeeds(getAll());
	fixture.sandbox.tokens.expireAll();
	await fixture.engine.run({ parameters: create() });
	const [uid = ''] = [...fixture.sandbox.store.jobs.keys()];
	pass(MINUTE_MS);
	fixture.sandbox.tokens.expireAll();
	await fixture.succeeds(change('stop', { jobId: uid }));
});

test('if the token becomes valid 20 s later, the error gives the reason, and a later execution succeeds without a login', async () => {
	acceptAfter(20_000);
	const { items } = await fixture.engine.run({ parameters: create(), onError }, numbered(50));
	expect(items).toHaveLength(50);
	expect(items[0]?.json).toMatchObject({
		message: 'The service rejected the token that it had just issued',
		error: {
			description: expect.stringMatching(/clocks.*Token used before issued/s) as unknown,
			...{ httpStatus: 401, jobMayExist: false },
		},
	});
	expect(jobs()).toBe(0);
	expect(callsOf('login')).toHaveLength(2);
	pass(30_000);
	jest.spyOn(performance, 'now').mockReturnValue(performance.now() + 30_000);
	await fixture.succeeds(create(), numbered(3));
	expect(jobs()).toBe(3);
	expect(callsOf('login')).toHaveLength(2);
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
