/**
 * n8n's log, and all that an error holds, are searched: the engine is this file's own.
 *
 * @jest-environment node
 */
import type { INodeParameters } from 'n8n-workflow';

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
	...[400, 401, 403, 404, 500].map((status): [string, Fault] => [String(status), answer(status)]),
	['429', { kind: 'rateLimit' }],
	['a redirect', { kind: 'redirect', location: 'http://127.0.0.1:9/' }],
	['a page', { kind: 'html', when: 'beforeActing', status: 502 }],
	['no answer', { kind: 'stall', when: 'beforeActing' }],
];

/** What a login can't meet: it has no token yet. */
const ofCallsOnly: Array<[string, Fault]> = [
	['tokens that expire at once', { kind: 'expireTokens' }],
];

/** Fails the login or all other calls, and runs the node in each mode. */
async function expectNoLeak(of: 'login' | 'others', fault: Fault, parameters: INodeParameters) {
	fixture.sandbox.faults.plan(({ operation }) =>
		(operation === 'login') === (of === 'login') ? fixture.limits.orRunOut(fault) : undefined,
	);
	for (const onError of modes) {
		const { tokens } = await fixture.expectNoLeak(parameters, onError);
		if (of === 'others') expect(tokens).not.toEqual([]);
	}
	expect(fixture.sandbox.calls.map(({ operation }) => operation)).toContain('login');
}

describe('A failure leaves neither the password nor a token:', () => {
	for (const { calls, parameters } of operations) {
		test.each([...ofAnyCall, ...ofCallsOnly])(`${calls}, %s`, async (_, fault) => {
			await expectNoLeak('others', fault, parameters);
		});
	}

	test.each(ofAnyCall)('the login, %s', async (_, fault) => {
		await expectNoLeak('login', fault, getAll({ options: { maxRetries: 0 } }));
	});

	test('a service that is not there', async () => {
		await fixture.sandbox.close();
		for (const onError of modes) {
			await fixture.expectNoLeak(getAll({ options: { maxRetries: 0 } }), onError);
		}
	});
});
