import fc from 'fast-check';

import { change, create, useSandbox } from '../support/fixture';
import { verbs } from '../support/operations';
import './seed';

/*
 * Whatever text is given as an id: the request goes to the path of this id, trimmed, or nothing is sent.
 */

const fixture = useSandbox();

/** Pieces of which ids are made that could lead elsewhere. */
const pieces = [
	'.',
	'..',
	'/',
	'\\',
	'%',
	'%2e',
	'%2F',
	'%00',
	'?',
	'#',
	';',
	'@',
	':',
	'&',
	'=',
	'+',
	' ',
	'\t',
	'\r\n',
	'\0',
	'{{',
	'}}',
	'\ud83d',
	'\ude00',
	'\u{1f600}',
	'\ufeff',
	'é',
	'a',
];

const ids = fc.oneof(
	fc.string({ unit: 'binary', maxLength: 20 }),
	fc
		.array(fc.integer({ min: 0, max: 0xffff }), { maxLength: 10 })
		.map((units) => String.fromCharCode(...units)),
	fc.array(fc.constantFrom(...pieces), { maxLength: 6 }).map((parts) => parts.join('')),
);

/** Whether a text can stand in a path as one segment, even if it is decoded again. */
function isSendable(id: string): boolean {
	const staysInPlace =
		!/[/\\\p{Cc}]|%(2e|2f|5c|25|3b|[01][\da-f]|7f)/iu.test(id) && !/^\.\.?\s*(;|$)/.test(id);
	return id !== '' && staysInPlace && isWellFormed(id);
}

/** Whether each half of a surrogate pair has its other half. */
function isWellFormed(text: string): boolean {
	return [...text].every((character) => !/^[\ud800-\udfff]$/.test(character));
}

/** The segments of the paths that were called, each decoded. */
function segmentsCalled(): string[][] {
	return fixture.sandbox.calls
		.filter(({ operation }) => operation !== 'login')
		.map(({ path }) => path.split('/').map(decodeURIComponent));
}

test('a state change', async () => {
	await fc.assert(
		fc.asyncProperty(fc.constantFrom(...verbs), ids, ids, async (verb, namespace, jobId) => {
			fixture.sandbox.clearCalls();
			const { error } = await fixture.engine.run(
				{
					parameters: change(verb, {
						namespace: '={{ $json.namespace }}',
						jobId: '={{ $json.jobId }}',
					}),
				},
				[{ namespace, jobId }],
			);
			const sent = [namespace.trim(), jobId.trim()] as const;
			if (sent.every(isSendable)) {
				expect(segmentsCalled()).toEqual([
					['', 'api', 'v1', 'namespaces', sent[0], 'jobs', sent[1], verb],
				]);
			} else {
				expect(fixture.sandbox.calls).toEqual([]);
				expect(error?.name).toBe('NodeOperationError');
			}
		}),
		{ numRuns: 100 },
	);
});

test('a create', async () => {
	await fc.assert(
		fc.asyncProperty(ids, async (namespace) => {
			fixture.sandbox.clearCalls();
			const { error } = await fixture.engine.run(
				{ parameters: create({ namespace: '={{ $json.namespace }}' }) },
				[{ namespace }],
			);
			const sent = namespace.trim();
			if (isSendable(sent)) {
				expect(segmentsCalled()).toEqual([['', 'api', 'v1', 'namespaces', sent, 'jobs']]);
				const [call] = fixture.callsOf('createJob');
				expect(call?.body).toMatchObject({ namespace: sent, job: { namespace: sent } });
			} else {
				expect(fixture.sandbox.calls).toEqual([]);
				expect(error?.name).toBe('NodeOperationError');
			}
		}),
		{ numRuns: 100 },
	);
});
