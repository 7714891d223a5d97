import { create, useSandbox } from '../support/fixture';

const fixture = useSandbox();

test('a date from an expression is sent as text', async () => {
	const date = 'DateTime.fromISO("2026-11-22T08:00:00", { zone: "utc" })';
	const { error } = await fixture.engine.run({
		parameters: create({
			displayName: `={{ ${date} }}`,
			inputs: { input: [{ id: 'day', value: `={{ ${date} }}` }] },
		}),
	});
	expect(error).toBeUndefined();
	expect(fixture.callsOf('createJob')[0]?.body).toMatchObject({
		job: {
			displayName: '2026-11-22T08:00:00.000Z',
			inputs: [{ default: '2026-11-22T08:00:00.000Z' }],
		},
	});
});
