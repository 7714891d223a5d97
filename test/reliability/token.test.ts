import type { Plan } from '../../sandbox';
import { credentialFor, getAll, newSandbox, numbered } from '../support/fixture';
import { until } from '../sandbox/client';
import { batch, itemOf, useBatch } from './batch';

/*
 * A token that expires while a batch goes on.
 */

const { fixture, creates, timesSent } = useBatch();

describe('The token', () => {
	/** A credential whose token is older than the newest one that is known, which has expired as well. */
	async function storeOldToken(): Promise<void> {
		await fixture.engine.run({ parameters: getAll() });
		const oldest = fixture.engine.storedToken;
		fixture.sandbox.tokens.expireAll();
		await fixture.engine.run({ parameters: getAll() });
		fixture.sandbox.tokens.expireAll();
		const credential = { ...credentialFor(fixture.sandbox), accessToken: oldest };
		fixture.engine.saveCredential(credential);
		fixture.sandbox.clearCalls();
	}

	test.each([0, 1, 3])(
		'is renewed where two have expired, and %i retries are allowed',
		async (maxRetries) => {
			await storeOldToken();
			const { error, items } = await fixture.engine.run(
				{ parameters: batch({ maxRetries }) },
				numbered(30),
			);
			expect(error?.message).toBeUndefined();
			expect(items).toHaveLength(30);
			expect(fixture.callsOf('login')).toHaveLength(1);
		},
	);

	/**
	 * Runs six items, two at once, which all begin with the token that is stored; each sending of an item meets
	 * a fault of its own.
	 * @returns the items whose token was rejected
	 */
	async function rejectedItems(
		faultFor: (item: number, sending: { first: boolean; stored: boolean }) => ReturnType<Plan>,
	): Promise<number[]> {
		await fixture.engine.run({ parameters: getAll() });
		const { token: newest } = fixture.engine;
		creates((item, { token }) =>
			faultFor(item, { first: timesSent()[item] === 1, stored: token === newest }),
		);
		const { items } = await fixture.engine.run(
			{ parameters: batch({ concurrency: 2 }), onError: 'continueRegularOutput' },
			numbered(6),
		);
		expect(items.map(({ json }) => json.displayName)).toEqual(
			numbered(6).map(({ n }) => `Job ${String(n)}`),
		);
		const rejected = fixture.callsOf('createJob').filter(({ status }) => status === 401);
		return [...new Set(rejected.map(itemOf))].sort();
	}

	/** A job exists: its create has been acted on. */
	const exists = async (item: number) => {
		await until(() =>
			[...fixture.sandbox.store.jobs.values()].some(
				({ displayName }) => displayName === `Job ${item}`,
			),
		);
	};

	test('that is new goes with all that begin later, though others ended meanwhile with the old one', async () => {
		const rejected = await rejectedItems((item, { first }) => {
			// Item 2 begins, with the old token, when item 0 has ended.
			if (item === 1 && first) {
				return [{ kind: 'wait', when: 'beforeActing', until: exists(2) }, { kind: 'expireTokens' }];
			}
			return item === 2 ? { kind: 'wait', when: 'afterActing', until: exists(3) } : undefined;
		});
		expect(rejected).toEqual([1]);
	});

	test('that is new is kept, though another that was new before comes later', async () => {
		const rejected = await rejectedItems((item, { first, stored }) => {
			// Item 0 gets a second token, and its answer when there is a third.
			if (item === 0 && first) {
				return [{ kind: 'wait', when: 'beforeActing', until: exists(1) }, { kind: 'expireTokens' }];
			}
			if (item === 0 && !stored) return { kind: 'wait', when: 'afterActing', until: exists(3) };
			if (item === 2 && first) {
				return [{ kind: 'wait', when: 'beforeActing', until: exists(0) }, { kind: 'expireTokens' }];
			}
			return item === 1 ? { kind: 'wait', when: 'afterActing', until: exists(0) } : undefined;
		});
		expect(rejected).toEqual([0, 2]);
	});

	test('may expire again and again: no item fails for it, and there is one login for each time', async () => {
		const sandbox = await newSandbox({ latency: 5 });
		fixture.engine.saveCredential(credentialFor(sandbox));
		sandbox.faults.plan(({ operation, nOfOperation }) =>
			operation === 'createJob' && nOfOperation % 60 === 0 ? { kind: 'expireTokens' } : undefined,
		);
		const { items } = await fixture.engine.run(
			{ parameters: batch({ concurrency: 20 }), onError: 'continueRegularOutput' },
			numbered(250),
		);
		expect(items.filter(({ json }) => 'error' in json).map(({ json }) => json.error)).toEqual([]);
		expect(sandbox.store.jobs.size).toBe(250);
		const creates = sandbox.calls.filter(({ operation }) => operation === 'createJob').length;
		expect(sandbox.tokens.issued).toBeLessThanOrEqual(1 + Math.floor(creates / 60));
	});
});
