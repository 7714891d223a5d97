import { ServerResponse } from 'node:http';

import * as n8nWorkflow from 'n8n-workflow';

import type { Fault } from '../../sandbox';
import { contextOf } from '../reliability/batch';
import { answer } from '../support/answer';
import { selfSignedCertificate } from '../sandbox/selfSignedCertificate';
import { change, create, getAll, newSandbox, numbered, useSandbox } from '../support/fixture';
import { hurry } from '../support/hurry';
import type { Result } from '../support/run';

/*
 * An error quotes the service unchanged, says what the failure means for the job, and gives advice that fits it.
 */

const fixture = useSandbox();

beforeEach(() => void hurry());

const stop = change('stop', { jobId: 'job-1' });
const html = { 'content-type': 'text/html' };

/** Runs a node whose requests get this fault: all of them except the login, or only the login. */
async function runAfter(fault: Fault, parameters = create(), ofLogin = false): Promise<Result> {
	fixture.meets(ofLogin ? 'login' : 'others', fault);
	return await fixture.engine.run({ parameters });
}

/** Returns the title and the description of an error, without the invisible character that the node inserts. */
const seen = ({ error }: Pick<Result, 'error'>) =>
	[error?.message, error?.description].join('\n').replaceAll('\u2060', '');

describe('The title of an error quotes the service unchanged, and shortens the quote only at its end:', () => {
	test.each([
		'default/report was not found',
		'registry.example.com is unreachable',
		'job.yaml has an error',
		'jobs.batch "x" not found',
		'spec/inputs: 3 are missing',
		`registry.example.com/${'x'.repeat(120)} is unreachable`,
	])('%s', async (words) => {
		const title = `The service refused to create the job: ${words.length > 80 ? `${words.slice(0, 79)}…` : words}`;
		const onError = 'continueRegularOutput';
		const { error } = await runAfter(answer(400, { message: words }));
		expect(error?.message).toBe(title);
		const { items } = await fixture.engine.run({ parameters: create(), onError });
		expect(items[0]?.json.message).toBe(title);
	});

	test('an error in which the service says "canceled" is not a cancel, and the user reads the words unchanged', async () => {
		const words = 'The job "canceled-7" was canceled';
		const result = await runAfter(answer(409, { message: words }), stop);
		const { run, error } = result;
		expect(run.status).toBe('error');
		expect(error?.message).not.toContain('canceled');
		expect(seen(result)).toMatch(/: The job "canceled-7" was canceled\n/);
		expect(error?.description).toContain(`The service says: ${JSON.stringify({ message: words })}`);
		const node = { parameters: stop, onError: 'continueRegularOutput' } as const;
		const [item] = (await fixture.engine.run(node)).items;
		expect(item?.json.message).toBe(`Can't stop the job in its current state: ${words}`);
	});

	test('an error shows an ID as it was entered', async () => {
		const parameters = change('stop', { jobId: 'canceled-42' });
		expect(seen(await runAfter(answer(404), parameters))).toMatch(/^No job 'canceled-42' in /);
		const node = { parameters, onError: 'continueRegularOutput' } as const;
		const { items } = await fixture.engine.run(node);
		expect(items[0]?.json.message).toBe("No job 'canceled-42' in namespace 'default'");
	});
});

describe('An error quotes words that are also the HTTP reason phrase, but not the name of a status:', () => {
	/** Makes the server send a phrase that Node.js has for no status. */
	function withPhrase(phrase: string): void {
		const { writeHead } = ServerResponse.prototype;
		jest.spyOn(ServerResponse.prototype, 'writeHead').mockImplementation(function (
			this: ServerResponse,
			status: number,
			...others: unknown[]
		) {
			const headers = others.find((each) => typeof each === 'object');
			return Reflect.apply(writeHead, this, [status, phrase, headers]) as ServerResponse;
		});
	}
	test.each<[string, number, unknown, RegExp]>([
		['The group is locked.', 400, { message: 'The group is locked.' }, /: The group is locked\./],
		['Bad Request', 400, { message: 'Bad Request' }, /^The service refused to create the job\n/],
		['', 400, { message: '' }, /^The service refused to create the job\n/],
	])('"%s" with %i', async (phrase, status, body, said) => {
		withPhrase(phrase);
		expect(seen(await runAfter(answer(status, body)))).toMatch(said);
	});
});

/** Single statuses whose own texts help more than "The service refused to ...": a new one is a row here. */
test.each<[status: number, title: RegExp, advice: RegExp]>([
	[
		401,
		/^The service rejected the token that it had just issued/,
		/clocks of the service's machines/,
	],
	[
		403,
		/^The user isn't allowed to create the job/,
		/the permission.*'Base URL' in the credential, too\./,
	],
	[
		404,
		/^The namespace, the workflow template or the work cluster was not/,
		/'Namespace' \(default\)/,
	],
	[407, /^A proxy before the service wants a login/, /HTTP_PROXY and HTTPS_PROXY, as in http/],
	[413, /^What was sent is too large for the service/, /Make this node's fields shorter/],
	[
		431,
		/^What was sent is too large for the service/,
		/the token of a user in many groups is long/,
	],
	[429, /^The service is receiving too many requests/, /^Try again later\./],
	[409, /^The service refused to create the job/, /^Check this node's fields\./],
])('the error of a create after %i has its own title and advice', async (status, title, advice) => {
	const result = await runAfter(answer(status, { message: 'said so' }));
	expect(result.error?.message).toMatch(new RegExp(`${title.source}[^:]*: said so$`));
	expect(result.error?.description).toMatch(advice);
	expect(contextOf(result)).toMatchObject({ httpStatus: status, jobMayExist: false });
});

describe('A state change', () => {
	test.each([
		[304, undefined],
		[405, { message: 'already stopped' }],
		[409, { message: 'already stopped' }],
	])('that is answered %i says that the job may already be in this state', async (status, body) => {
		const result = await runAfter(answer(status, body), stop);
		const words = body === undefined ? '' : ': already stopped';
		expect(result.error?.message).toBe(`Can't stop the job in its current state${words}`);
		expect(result.error?.description).toMatch(/^Check the state of the job on the service/);
		expect(result.error?.description).toContain(`was answered with HTTP ${status}.`);
		expect(contextOf(result)).toMatchObject({ httpStatus: status });
	});

	test('and a list whose path does not exist say that the Base URL may be wrong', async () => {
		for (const [parameters, status] of [
			[stop, 403],
			[stop, 404],
			[getAll(), 404],
		] as const) {
			const gateway = answer(status, { message: 'Missing Authentication Token' });
			const text = seen(await runAfter(gateway, parameters));
			expect(text).toMatch(/^[^\n]+: Missing Authentication Token\n.*'Base URL' in the credential/);
		}
	});
});

test.each(['the login', 'the test of the credential'])(
	'the error of %s says which field to change, if the credential does not allow the host of the service',
	async (way) => {
		if (!('getCredentialOwnRequestAllowedDomains' in n8nWorkflow)) return;
		const allowed = { allowedHttpRequestDomains: 'domains', allowedDomains: 'example.org' };
		fixture.engine.editCredential(allowed);
		const error =
			way === 'the login'
				? (await fixture.engine.run({ parameters: create() })).error
				: await fixture.engine.listAsOtherNode().catch((e: Error) => e);
		const text = `${(error as Error).message}\n${(error as { description?: string }).description}`;
		expect(text).toMatch(/^n8n doesn't allow requests to http/);
		expect(text).toContain(
			"Add the service's host to 'Allowed Domains' in the credential, below 'Allowed HTTP Request Domains'",
		);
		expect(text).toContain('Nothing was sent. n8n says: "Domain not allowed:');
		expect(fixture.sandbox.calls).toEqual([]);
	},
);

describe('The error for a certificate that is not trusted', () => {
	/**
	 * Returns the title of the error that n8n's HTTP Request node gets. The test of the credential shows the same
	 * title.
	 */
	async function titleWith(baseUrl: string): Promise<string> {
		fixture.engine.editCredential({ baseUrl });
		const error: unknown = await fixture.engine.listAsOtherNode().catch((e: Error) => e);
		return error instanceof Error ? error.message.replaceAll('\u2060', '') : 'It was sent';
	}

	test('also gives the cause in the test of the credential', async () => {
		const { url } = await newSandbox({ tls: selfSignedCertificate });
		const title = await titleWith(url);
		expect(title).toContain(
			`The certificate of ${url} isn't trusted. Have the certificate renewed`,
		);
		expect(title).toContain('make n8n trust its issuer (NODE_EXTRA_CA_CERTS)');
		expect(title).toContain('Nothing was sent. n8n says: "self-signed certificate".');
	});
});

test('the error of several state changes says what was done, what failed, and what Retry does', async () => {
	const node = {
		parameters: change('stop', { jobId: '={{ $json.id }}', options: { concurrency: 1 } }),
	};
	const items = [{ id: 'a' }, { id: 'gone' }, { id: 'b' }, { id: 'gone' }];
	fixture.meets('changeJobState', ({ path }) =>
		path.includes('gone') ? answer(409, { message: 'it has ended' }) : answer(200),
	);
	const result = await fixture.engine.start([node], items).result;
	expect(result.error?.message).toBe(
		"1 of 4 jobs were stopped; item 1 failed: Can't stop the job in its current state: it has ended",
	);
	expect(result.error?.description).toContain(
		'in the list of executions (the arrow ↷), with the currently saved workflow: it runs only the items that are not done',
	);
	expect(result.error?.description).toContain(
		'\n\nDone: item 0. Failed: item 1. Not begun: items 2 to 3. Items are counted from 0.\n\n',
	);
	// Check that Retry does what the error says.
	const before = fixture.callsOf('changeJobState').length;
	fixture.meets('changeJobState', answer(200));
	const retried = await fixture.engine.retry(result, [node]);
	expect(retried.error).toBeUndefined();
	expect(retried.items).toHaveLength(4);
	expect(fixture.callsOf('changeJobState')).toHaveLength(before + 3);
});

test('an error counts items from 0, and says so once', async () => {
	fixture.meets('others', ({ operation }) =>
		operation === 'listClusters' ? undefined : answer(400, { message: 'no' }),
	);
	const results = [
		await fixture.engine.run({ parameters: create() }, numbered(3)),
		await fixture.engine.run({ parameters: stop }, numbered(3)),
		await fixture.engine.run(
			{ parameters: create({ workflowUid: '={{ $json.n === 1 ? "" : "a" }}' }) },
			numbered(3),
		),
	];
	for (const { error } of results) {
		const itemIndex =
			error !== undefined && 'context' in error ? error.context.itemIndex : undefined;
		// n8n's editor adds "[item 1]" to a title that doesn't contain "item 1".
		expect(error?.message).toContain(`item ${String(itemIndex)}`);
		expect(error?.description?.match(/Items are counted from 0\./g)).toHaveLength(1);
	}
	const several = { parameters: create({ workflowUid: '={{ $json.n < 2 ? "" : "a" }}' }) };
	const { error } = await fixture.engine.run(several, numbered(4));
	expect(error?.message).toBe("Nothing was sent. 'Workflow UID' is empty for item 0.");
	expect(error?.description).toContain('\n\nOne more item has wrong values: item 1. Items are ');
});

test('an error hides a password of several words, even if a page breaks the line within it', async () => {
	const password = 'correct horse battery';
	fixture.engine.editCredential({ password });
	const page = `<html><h1>Login failed</h1><p>Not: ${password.replaceAll(' ', '\n')}</p></html>`;
	const text = seen(await runAfter(answer(403, page, html), create(), true));
	expect(text).toContain("The answer isn't shown: it contains the password or a token.");
	expect(text).not.toContain('horse');
});
