import fc from 'fast-check';
import type { IDataObject, INodeParameters } from 'n8n-workflow';

import { change, create, useSandbox } from '../support/fixture';
import { verbs } from '../support/operations';
import { anyText } from './seed';

/*
 * For any text as an ID, the request goes to exactly the path that belongs to the ID, or nothing is sent.
 */

const fixture = useSandbox();

/** Parts of IDs that could change the path of a request. */
const pieces = [
	...'./\\%?#;@:&=+ \t\0éa\ufeff\u{1f600}',
	...['..', '%2e', '%2F', '%00', '\r\n', '{{', '}}', '\ud83d', '\ude00'],
];

const ids = fc.oneof(
	anyText(10),
	fc.array(fc.constantFrom(...pieces), { maxLength: 6 }).map((parts) => parts.join('')),
);

/** Returns whether a text is usable as one segment of a path, even if it is decoded again, and is visible. */
function isSendable(id: string): boolean {
	const staysInPlace = !/[/\\%;\p{Cc}]/u.test(id) && id !== '.' && id !== '..';
	const isSeen = !/[\p{Cf}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/u.test(id);
	return id !== '' && staysInPlace && isSeen && !/\p{Surrogate}/u.test(id);
}

/**
 * Runs the node with these IDs.
 *
 * @returns the decoded segments of each path that was called
 */
async function segmentsCalled(
	parameters: INodeParameters,
	given: IDataObject,
): Promise<string[][]> {
	fixture.sandbox.clearCalls();
	const { error } = await fixture.engine.run({ parameters }, [given]);
	if (fixture.sandbox.calls.length === 0) expect(error?.name).toBe('NodeOperationError');
	return fixture.sandbox.calls
		.filter(({ operation }) => operation !== 'login')
		.map(({ path }) => path.split('/').map(decodeURIComponent));
}

test('For any IDs, a call is sent to its percent-encoded path, or not at all', async () => {
	const fields = { namespace: '={{ $json.namespace }}', jobId: '={{ $json.jobId }}' };
	const namespaces = ['', 'api', 'v1', 'namespaces'];
	await fc.assert(
		fc.asyncProperty(fc.constantFrom(...verbs), ids, ids, async (verb, namespace, jobId) => {
			const sent = [namespace.trim(), jobId.trim()] as const;
			const paths = await segmentsCalled(change(verb, fields), { namespace, jobId });
			const own = [...namespaces, sent[0], 'jobs', sent[1], verb];
			expect(paths).toEqual(sent.every(isSendable) ? [own] : []);

			const created = await segmentsCalled(create({ namespace: fields.namespace }), { namespace });
			expect(created).toEqual(isSendable(sent[0]) ? [[...namespaces, sent[0], 'jobs']] : []);
			const [call] = fixture.callsOf('createJob');
			const body = { namespace: sent[0], job: { namespace: sent[0] } };
			if (call) expect(call.body).toMatchObject(body);
		}),
	);
});
