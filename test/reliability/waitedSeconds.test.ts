import { answer } from '../support/answer';
import { MINUTE_MS, pass } from '../support/clock';
import { create, numbered, useSandbox } from '../support/fixture';
import { hurry } from '../support/hurry';

/*
 * An error about a request that got no answer names the time that was waited for: that of a health check, of the
 * request's own Timeout or of a tool's call.
 */

const fixture = useSandbox();
const stall = { kind: 'stall', when: 'beforeActing' } as const;

test('A create that fails because of a health check names the ten seconds of the health check', async () => {
	const { orRunOut } = hurry();
	fixture.sandbox.faults.plan(({ operation }) => {
		if (operation === 'createJob') return answer(500);
		return operation === 'listClusters' ? orRunOut(stall) : undefined;
	});
	const { items } = await fixture.engine.run(
		{
			parameters: create({ options: { concurrency: 1, maxRetries: 0 } }),
			onError: 'continueRegularOutput',
		},
		numbered(4),
	);
	expect(items.at(-1)?.json).toMatchObject({
		message: "The service didn't answer within 10 s",
		error: { jobMayExist: false },
	});
});

test.each([
	[60_000, 'The 45 seconds of this tool call are over'],
	[5_000, "The service didn't answer the login within 5 s"],
])('A tool whose login gets no answer at a Timeout of %i ms says: %s', async (timeout, said) => {
	const { orRunOut } = hurry();
	fixture.sandbox.faults.plan(() => orRunOut(stall));
	const { answers } = await fixture.engine.callTool(
		{ parameters: create({ options: { timeout } }) },
		[{}],
	);
	expect(answers[0]).toContain(said);
});

test('A tool sends nothing after its 45 seconds, even if an old token is left that may have expired', async () => {
	await fixture.engine.run({ parameters: create() });
	pass(2 * MINUTE_MS);
	fixture.meets('createJob', answer(500));
	await fixture.engine.run({ parameters: create() });
	fixture.sandbox.clearCalls();
	const { orRunOut } = hurry();
	fixture.meets('login', () => orRunOut(stall));
	const { answers } = await fixture.engine.callTool({ parameters: create() }, [{}]);
	expect(answers[0]).toContain('The 45 seconds of this tool call are over');
	expect(fixture.callsOf('createJob')).toEqual([]);
});
