import type { IExecuteFunctions } from 'n8n-workflow';

import { create, useSandbox } from '../support/fixture';
import type { Result } from '../support/run';
import { contextOf } from './batch';

/*
 * n8n's request helper has sent a create, and gives the node something that no helper should: the job may exist.
 */

const fixture = useSandbox();
afterEach(() => jest.restoreAllMocks());

type Helper = (...parameters: unknown[]) => Promise<unknown>;

/** Runs a create whose helper gives this instead of what n8n's own gave. */
async function createWith(result: () => unknown): Promise<Result> {
	const { node } = fixture.engine.loaded;
	const { execute } = node;
	jest.spyOn(node as Required<typeof node>, 'execute').mockImplementation(async function (
		this: IExecuteFunctions,
	) {
		const helper = this.helpers.httpRequestWithAuthentication as Helper;
		const replaced: Helper = async function (this: unknown, ...parameters) {
			await helper.call(this, ...parameters);
			return result();
		};
		const helpers = { ...this.helpers, httpRequestWithAuthentication: replaced };
		const context = new Proxy(this, {
			get: (target, name) =>
				name === 'helpers' ? helpers : (Reflect.get(target, name) as unknown),
		});
		return (await execute?.call(context)) ?? [];
	});
	return await fixture.engine.run({ parameters: create() });
}

const failing = (error: object) => () => {
	throw Object.assign(new Error('failed'), error);
};

test.each<[string, () => unknown]>([
	['nothing', () => undefined],
	['a text', () => 'created'],
	['an object without a status', () => ({ metadata: { uid: 'job-1' } })],
	['a status that is no number', () => ({ statusCode: '200', body: { metadata: { uid: 'a' } } })],
	['an error that says that the request was aborted', failing({ code: 'ERR_CANCELED' })],
	['an error with a failure of another node', failing({ context: { failure: { kind: 'odd' } } })],
	[
		'an error with a failure that only looks like one of this node',
		failing({ context: { failure: { kind: 'unreachable', code: 'ECONNREFUSED' } } }),
	],
])('%s', async (_, result) => {
	const ended = await createWith(result);
	expect(ended.error?.name).toBe('NodeApiError');
	expect(ended.error?.message).toMatch(/; the job may exist$/);
	expect(contextOf(ended)).toMatchObject({ jobMayExist: true, httpStatus: null });
	expect(fixture.callsOf('createJob')).toHaveLength(1);
});
