/**
 * n8n's log, and all that an error holds, are searched: the engine is this file's own.
 *
 * @jest-environment node
 */
import type { Fault } from '../../sandbox';
import { answer } from '../support/answer';
import { getAll } from '../support/fixture';
import { modes, operations, useTraces } from './traces';

/*
 * What a failure leaves, whatever failed.
 */

const fixture = useTraces();

const ofAnyCall: Array<[string, Fault]> = [
	['a broken connection', { kind: 'break', when: 'beforeActing' }],
	['half a body', { kind: 'halfBody', when: 'beforeActing' }],
	['400', answer(400)],
	['401', answer(401)],
	['403', answer(403)],
	['404', answer(404)],
	['429', { kind: 'rateLimit' }],
	['500', answer(500)],
	['a redirect', { kind: 'redirect', location: 'http://127.0.0.1:9/' }],
	['a page', { kind: 'html', when: 'beforeActing', status: 502 }],
	['no answer', { kind: 'stall', when: 'beforeActing' }],
];

/** What a log-in can't meet: it has no token yet. */
const ofCallsOnly: Array<[string, Fault]> = [
	['tokens that expire at once', { kind: 'expireTokens' }],
];

describe('A failure leaves neither the password nor a token:', () => {
	for (const { calls, parameters } of operations) {
		for (const onError of modes) {
			test.each([...ofAnyCall, ...ofCallsOnly])(`${calls} (${onError}), %s`, async (_, fault) => {
				fixture.sandbox.faults.plan((call) =>
					call.operation === 'login' ? undefined : fixture.limits.orRunOut(fault),
				);
				const { tokens } = await fixture.expectNoLeak(parameters, onError);
				expect(tokens).not.toEqual([]);
			});
		}
	}

	test.each(ofAnyCall)('the log-in, %s', async (_, fault) => {
		fixture.sandbox.faults.plan((call) =>
			call.operation === 'login' ? fixture.limits.orRunOut(fault) : undefined,
		);
		for (const onError of modes) {
			await fixture.expectNoLeak(getAll({ options: { maxRetries: 0 } }), onError);
		}
		expect(fixture.sandbox.calls.map(({ operation }) => operation)).toContain('login');
	});

	test('a service that is not there', async () => {
		await fixture.sandbox.close();
		for (const onError of modes) {
			await fixture.expectNoLeak(getAll({ options: { maxRetries: 0 } }), onError);
		}
	});
});
