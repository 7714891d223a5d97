import type { Fault } from '../../sandbox';
import { answer } from '../support/answer';
import { create, getAll, numbered, useSandbox } from '../support/fixture';

/*
 * Services tell an expired token by many answers, of which some say that they have not acted on the request.
 */

const fixture = useSandbox();
const batch = (count: number) => ({ parameters: create(), items: numbered(count) });

let sinceLoginMs = 0;
beforeEach(() => {
	const now = Date.now.bind(Date);
	sinceLoginMs = 0;
	jest.spyOn(Date, 'now').mockImplementation(() => now() + sinceLoginMs);
});
afterEach(() => jest.restoreAllMocks());

const logins = () => fixture.callsOf('login').length;

/** Logs in, and has the service give that token this answer from now on, two minutes later. */
async function expireBy(fault: Fault): Promise<void> {
	await fixture.engine.run({ parameters: getAll() });
	sinceLoginMs = 120_000;
	const [old] = fixture.callsOf('listClusters').map(({ token }) => token);
	fixture.sandbox.clearCalls();
	fixture.sandbox.faults.plan(({ token, operation }) =>
		operation !== 'login' && token === old ? fault : undefined,
	);
}

describe.each([401, 403, 419, 440, 498])('A token that has expired by %i', (status) => {
	test('is renewed by one login: twenty creates at once make twenty jobs', async () => {
		await expireBy(answer(status));
		const { parameters, items } = batch(20);
		const result = await fixture.engine.run({ parameters }, items);
		expect(result.error).toBeUndefined();
		expect(fixture.sandbox.store.jobs.size).toBe(20);
		expect(logins()).toBe(1);
	});

	test('is renewed by one login for two executions', async () => {
		await expireBy(answer(status));
		const { parameters, items } = batch(5);
		const runs = [1, 2].map(async () => await fixture.engine.run({ parameters }, items));
		for (const { error } of await Promise.all(runs)) expect(error).toBeUndefined();
		expect(fixture.sandbox.store.jobs.size).toBe(10);
		expect(logins()).toBe(1);
	});
});

describe.each<[string, Fault, boolean]>([
	['302 to a login', answer(302, undefined, { location: '/login?next=/api' }), true],
	['a login page', { kind: 'html', when: 'beforeActing' }, true],
	['400 invalid_token', answer(400, { error: 'invalid_token' }), false],
	['500 JWT expired', answer(500, { message: 'JWT expired' }), true],
	['500 session', answer(500, { error: { message: 'Your session has expired' } }), true],
])('A token that has expired by %s', (_, fault, mayExist) => {
	test('lets a read be sent again', async () => {
		await expireBy(fault);
		const { error, items } = await fixture.engine.run({ parameters: getAll() });
		expect(error).toBeUndefined();
		expect(items.length).toBeGreaterThan(0);
		expect(logins()).toBe(1);
	});

	test('a create that may have been acted on fails, which says so; any other is sent again', async () => {
		await expireBy(fault);
		const first = await fixture.engine.run({ parameters: create() });
		if (!mayExist) {
			expect(first.error).toBeUndefined();
			expect(fixture.callsOf('createJob')).toHaveLength(2);
			return;
		}
		expect(first.error?.context).toMatchObject({ jobMayExist: true });
		expect(first.error?.description).toMatch(/The login seems to have expired and was renewed/);
		expect(fixture.callsOf('createJob')).toHaveLength(1);
		const { error } = await fixture.engine.run({ parameters: create() });
		expect(error).toBeUndefined();
		expect(logins()).toBe(1);
	});
});

test("a user who isn't allowed is told so, with at most two logins in five executions", async () => {
	await expireBy(answer(403));
	const forbidden = answer(403, { message: 'no rights here' });
	fixture.sandbox.faults.plan(({ operation }) =>
		operation === 'createJob' ? forbidden : undefined,
	);
	const { parameters, items } = batch(20);
	for (let n = 0; n < 5; n += 1) {
		const result = await fixture.engine.run(
			{ parameters, onError: 'continueRegularOutput' },
			items,
		);
		for (const { json } of result.items) {
			expect(json.error).toMatchObject({ httpStatus: 403, jobMayExist: false });
		}
	}
	expect(logins()).toBeLessThanOrEqual(2);
});

test.each([401, 403])('items that get %i for themselves cost few logins', async (status) => {
	await expireBy(answer(status));
	fixture.sandbox.faults.plan(({ path }) =>
		path.includes('/namespaces/theirs/') ? answer(status, { message: 'not yours' }) : undefined,
	);
	const parameters = create({ namespace: '={{ $json.n % 5 === 0 ? "theirs" : "default" }}' });
	const startedAt = performance.now();
	const { items } = await fixture.engine.run(
		{ parameters, onError: 'continueRegularOutput' },
		numbered(200),
	);
	expect(items.filter(({ json }) => json.error !== undefined)).toHaveLength(40);
	expect(fixture.sandbox.store.jobs.size).toBe(160);
	expect(logins()).toBeLessThanOrEqual(4);
	expect(performance.now() - startedAt).toBeLessThan(5_000);
});

test.each<[string, Fault]>([
	[
		'a Retry-After of 15,000 characters',
		answer(503, {}, { 'retry-after': ' '.repeat(14_999) + 'x' }),
	],
	['4,096 texts of 2 kB', answer(400, { errors: new Array(4_096).fill('x'.repeat(2_000)) })],
	['a text of a megabyte', answer(400, '<'.repeat(1_000_000))],
	['a message of a megabyte', answer(400, { message: 'token '.repeat(200_000) })],
	[
		'nesting of 2,000',
		answer(400, JSON.parse('{"error":'.repeat(2_000) + '1' + '}'.repeat(2_000))),
	],
])('%s takes no long time', async (_, fault) => {
	await fixture.engine.run({ parameters: getAll() });
	fixture.sandbox.faults.plan(({ operation }) => (operation === 'createJob' ? fault : undefined));
	const { error } = await fixture.engine.run({ parameters: create() });
	expect(error).toBeDefined();
	const before = process.cpuUsage();
	await fixture.engine.run({ parameters: create() });
	const { user } = process.cpuUsage(before);
	expect(user / 1_000).toBeLessThan(1_000);
});
