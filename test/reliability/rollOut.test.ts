import type { Fault, PlannedCall } from '../../sandbox';
import { answer } from '../support/answer';
import { change, create, getAll, numbered, useSandbox } from '../support/fixture';
import { hurry } from '../support/hurry';
import { contextOf } from './batch';

/*
 * While a service is being rolled out, requests wait instead of failing. During that time, a proxy answers every
 * request with a 404 that isn't JSON.
 */

const fixture = useSandbox();
const { callsOf } = fixture;
beforeEach(() => void hurry());

/** Returns creates in which the error of an item doesn't end the others. */
const continuing = (parameters = create()) => ({
	...{ parameters, onError: 'continueRegularOutput' as const },
});
const nginx =
	'<html>\r\n<head><title>404 Not Found</title></head>\r\n<body>\r\n<center><h1>404 Not Found</h1></center>\r\n<hr><center>nginx/1.27.0</center>\r\n</body>\r\n</html>\r\n';
const asPage = { 'content-type': 'text/html' };
const asText = { 'content-type': 'text/plain; charset=utf-8' };
const NOT_FOUND = 'The namespace, the workflow template or the work cluster was not found';
const jobs = () => fixture.sandbox.store.jobs.size;

const proxies: Array<[string, Fault]> = [
	['default backend - 404', answer(404, 'default backend - 404', asText)],
	["nginx' page", answer(404, nginx, asPage)],
	[
		"Cloud Foundry's text",
		answer(404, "404 Not Found: Requested route ('jobs.example.com') does not exist.\n", asText),
	],
	["Traefik's text", answer(404, '404 page not found\n', asText)],
	['no body', answer(404)],
];

/**
 * Simulates a roll-out: it begins at the request `from` of this operation and lasts `ms` milliseconds, during which
 * every request gets this answer.
 */
function rollOut(fault: Fault, of: PlannedCall['operation'], { from = 1, ms = 15_000 } = {}): void {
	let startedAt = Infinity;
	fixture.sandbox.faults.plan(({ operation, nOfOperation }) => {
		const now = performance.now();
		if (operation === of && nOfOperation === from) startedAt = now;
		return now >= startedAt && now < startedAt + ms ? fault : undefined;
	});
}

describe.each(proxies)('While a proxy before the service answers with %s', (_, fault) => {
	test.each([true, false])(
		'creates wait, and no item fails (a list was answered before: %p)',
		async (hasListed) => {
			if (hasListed) await fixture.engine.run({ parameters: getAll() });
			rollOut(fault, 'createJob', { from: 20 });
			const { error } = await fixture.engine.run({ parameters: create() }, numbered(60));
			expect(error).toBeUndefined();
			expect(jobs()).toBe(60);
			if (hasListed) {
				const refused = fixture.sandbox.calls.filter(({ status }) => status === 404);
				expect(refused.length).toBeLessThanOrEqual(40);
			}
		},
	);

	test('state changes and lists wait', async () => {
		await fixture.engine.run({ parameters: create() }, numbered(60));
		await fixture.engine.run({ parameters: getAll() });
		const ids = [...fixture.sandbox.store.jobs.keys()].map((id) => ({ id }));
		rollOut(fault, 'changeJobState', { from: 20 });
		const stop = change('stop', { jobId: '={{ $json.id }}' });
		expect((await fixture.engine.run({ parameters: stop }, ids)).error).toBeUndefined();
		rollOut(fault, 'listClusters');
		fixture.sandbox.clearCalls();
		expect((await fixture.engine.run({ parameters: getAll() })).error).toBeUndefined();
	});

	test('a login waits', async () => {
		await fixture.engine.run({ parameters: create() });
		fixture.sandbox.tokens.expireAll();
		rollOut(fault, 'login');
		const { error } = await fixture.engine.run({ parameters: create() }, numbered(10));
		expect(error).toBeUndefined();
		expect(jobs()).toBe(11);
	});

	test('for longer than the patience, the waiting creates fail, and their jobs do not exist', async () => {
		await fixture.engine.run({ parameters: getAll() });
		rollOut(fault, 'createJob', { from: 20, ms: 600_000 });
		const result = await fixture.engine.run({ parameters: create() }, numbered(60));
		expect(result.error?.message).toContain('is away');
		expect(contextOf(result)).toMatchObject({ httpStatus: 404, jobMayExist: false });
		expect(jobs()).toBe(19);
	});

	test('no request waits if the service has never answered', async () => {
		fixture.sandbox.faults.plan(({ operation }) => (operation === 'login' ? undefined : fault));
		const startedAt = performance.now();
		const { items } = await fixture.engine.run(continuing(), numbered(3));
		const statuses = items.map(({ json }) => Object(json.error).httpStatus as number);
		expect(statuses).toEqual([404, 404, 404]);
		expect(callsOf('createJob')).toHaveLength(3);
		expect(performance.now() - startedAt).toBeLessThan(3_000);
	});
});

test.each<[string, Fault]>([
	['JSON', answer(404, { message: 'There is no namespace x' })],
	['a text', answer(404, 'no such namespace', asText)],
	[
		'a page',
		answer(404, '<!DOCTYPE html><html><body><pre>Cannot POST /x</pre></body></html>', asPage),
	],
])('A 404 of the service itself causes an error within three seconds: %s', async (_, fault) => {
	await fixture.engine.run({ parameters: create() });
	fixture.sandbox.faults.plan(({ path }) => (path.includes('/x/') ? fault : undefined));
	const startedAt = performance.now();
	const parameters = create({ namespace: '={{ $json.n % 5 === 0 ? "x" : "default" }}' });
	const { items } = await fixture.engine.run(continuing(parameters), numbered(50));
	expect(performance.now() - startedAt).toBeLessThan(3_000);
	const failed = items.filter(({ json }) => json.error !== undefined);
	expect(failed).toHaveLength(10);
	for (const { json } of failed) {
		expect(json.message).toBe(NOT_FOUND);
	}
	expect(jobs()).toBe(41);
	expect(callsOf('listClusters').length).toBeLessThanOrEqual(10);
});

test("A 404 of the service itself causes an error after some seconds if its list also gets a 404, and other items don't fail", async () => {
	await fixture.engine.run({ parameters: create() });
	const none = answer(404, 'not found', asText);
	fixture.sandbox.faults.plan(({ path }) =>
		path.includes('/x/') || path.includes('/clusters') ? none : undefined,
	);
	const startedAt = performance.now();
	const parameters = create({ namespace: '={{ $json.n === 5 ? "x" : "default" }}' });
	const { items } = await fixture.engine.run(continuing(parameters), numbered(50));
	expect(items[5]?.json.message).toBe(NOT_FOUND);
	expect(items.filter(({ json }) => json.error !== undefined)).toHaveLength(1);
	expect(performance.now() - startedAt).toBeLessThan(30_000);
});
