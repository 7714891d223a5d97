import { answer } from '../support/answer';
import { change, create, getAll, useSandbox } from '../support/fixture';
import { hurry } from '../support/hurry';
import { contextOf } from '../reliability/batch';

/*
 * While a proxy answers for the service, what can be repeated waits for about a minute, as for a service that can't be
 * reached. A create is never sent again.
 */

const fixture = useSandbox();
const { callsOf, meets } = fixture;

beforeEach(() => void hurry());

const unhealthy = answer(503, 'no healthy upstream', { 'content-type': 'text/plain' });

test.each([
	['list', 'listClusters', getAll()],
	['state change', 'changeJobState', change('stop', { jobId: 'a-job' })],
] as const)(
	'a %s waits while a proxy answers for the service',
	async (_, operation, parameters) => {
		meets(operation, ({ nOfOperation }) =>
			nOfOperation <= 8
				? unhealthy
				: answer(200, operation === 'listClusters' ? { items: [] } : {}),
		);
		await fixture.succeeds(parameters);
		expect(callsOf(operation)).toHaveLength(9);
	},
);

test('a list fails after about a minute if the proxy goes on answering', async () => {
	meets('listClusters', unhealthy);
	const { error } = await fixture.engine.run({ parameters: getAll() });
	expect(error?.message).toBe('The service failed to list the work clusters: no healthy upstream');
	expect(error?.description).toMatch(/All requests have waited (6|7)\d s for the service/);
});

test('a create is sent once, and its job may exist', async () => {
	meets('createJob', unhealthy);
	const result = await fixture.engine.run({ parameters: create() });
	expect(contextOf(result)).toMatchObject({ httpStatus: 503, jobMayExist: true });
	expect(callsOf('createJob')).toHaveLength(1);
});
