import { ServerResponse } from 'node:http';

import * as n8nWorkflow from 'n8n-workflow';

import { meaningOf } from '../../nodes/JobOrchestration/service/errors/kinds';
import { inTitleOnly } from '../../nodes/JobOrchestration/service/errors/problem';
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
		expect(error?.description).toContain(`The service says: "${words}" (HTTP 409).`);
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

describe('The error after an HTML page', () => {
	const jetty = `<html><head><meta http-equiv="Content-Type" content="text/html;charset=utf-8"/>
<title>Error 400 Missing Required Header</title></head><body><h2>HTTP ERROR 400</h2>
<p>Problem accessing /jobs. Reason:<pre>    Missing Required Header for CSRF protection.</pre></p><hr /><a href="https://jetty.org">Powered by Jetty:// 9.4</a></body></html>`;
	const newJetty = `<html><head><title>Error 400 No template</title></head><body><h2>HTTP ERROR 400 No template</h2>
<table><tr><th>URI:</th><td>/jobs</td></tr><tr><th>MESSAGE:</th><td>No template</td></tr></table><hr/><a href="x">Powered by Jetty:// 11</a></body></html>`;
	const tomcat = `<!doctype html><html lang="en"><head><title>HTTP Status 400 – Bad Request</title><style type="text/css">h1 {color:white;}</style></head><body><h1>HTTP Status 400 – Bad Request</h1><hr class="line" /><p><b>Type</b> Status Report</p><p><b>Message</b> The group &#39;x&#39; is unknown</p><hr class="line" /><h3>Apache Tomcat/9.0.31</h3></body></html>`;
	const aspNet = `<!DOCTYPE html><html><head><title>The group is locked.</title><style>body {}</style></head><body bgcolor="white"><span><H1>Server Error in '/' Application.<hr width=100%></H1><h2> <i>The group is locked.</i> </h2></span><b> Description: </b>An unhandled exception occurred.<br><br><hr width=100%><b>Version Information:</b>&nbsp;Microsoft .NET</body></html>`;
	const express = `<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<title>Error</title>\n</head>\n<body>\n<pre>Error: No such group<br> &nbsp; &nbsp;at create (/srv/app.js:12:3)</pre>\n</body>\n</html>`;
	const haProxy = `<html><body><h1>403 Forbidden</h1>\nRequest forbidden by administrative rules.\n</body></html>`;
	const apache = `<!DOCTYPE HTML PUBLIC "-//IETF//DTD HTML 2.0//EN"><html><head><title>400 Bad Request</title></head><body><h1>Bad Request</h1><p>Your browser sent a request that this server could not understand.<br /></p><hr><address>Apache/2.4 Server at x Port 80</address></body></html>`;
	const spring = `<html><body><h1>Whitelabel Error Page</h1><p>This application has no explicit mapping for /error.</p><div>There was an unexpected error (type=Bad Request, status=400).</div><div>The group is unknown</div></body></html>`;

	test.each<[string, number, string, string]>([
		['Jetty', 400, jetty, 'Missing Required Header for CSRF protection.'],
		['Jetty 11', 400, newJetty, 'No template'],
		['Tomcat', 400, tomcat, "Message The group 'x' is unknown"],
		['ASP.NET', 400, aspNet, 'The group is locked.'],
		['Express', 400, express, 'Error: No such group'],
		['HAProxy', 403, haProxy, 'Request forbidden by administrative rules.'],
		['Apache', 400, apache, 'Your browser sent a request that this server could not understand.'],
		['Spring', 400, spring, 'The group is unknown'],
	])('gives the reason that the page contains: %s', async (_, status, page, reason) => {
		for (const parameters of [create(), stop, getAll()]) {
			const text = seen(await runAfter(answer(status, page, html), parameters));
			expect(text).toMatch(/^The service or something before it refused to [a-z ]+: \S/);
			expect(text).toContain(reason);
			expect(text).toMatch(new RegExp(`\\nAn HTML page says: ".+" \\(HTTP ${status}\\)\\.\\n`));
			expect(text).not.toMatch(/[<‹&＆]|Powered|Apache\/|Version|app\.js|color|1\.0/);
		}
	});

	test('also gives the reason after a login and after a failure', async () => {
		expect(seen(await runAfter(answer(403, haProxy, html), getAll(), true))).toMatch(
			/^The service or something before it refused the login: Request forbidden by administrative/,
		);
		await fixture.start({});
		expect(seen(await runAfter(answer(500, express, html), getAll()))).toMatch(
			/^The service failed to list the work clusters: Error: No such group\n/,
		);
	});

	test.each([
		[
			502,
			'<html><head><title>502 Bad Gateway</title></head><body><center><h1>502 Bad Gateway</h1></center><hr><center>nginx/1.18.0 (Ubuntu)</center></body></html>',
		],
		[
			404,
			'<html><head><title>404 Not Found</title></head><body><center><h1>404 Not Found</h1></center><hr><center>nginx</center></body></html>',
		],
		[400, '<html><title>Error 400</title><p>HTTP Status 400 – Bad Request</p></html>'],
	])('gives no reason if the page contains only the status %i', async (status, page) => {
		const text = seen(await runAfter(answer(status, page, html)));
		expect(text).toContain(
			`\nAn HTML page came (HTTP ${status}). A firewall, a proxy or a login page`,
		);
		expect(text).not.toMatch(/nginx|says/);
	});

	test.each([
		['tags', `<html><h1>Bad<p>${'<b'.repeat(500_000)}`],
		['tags with a space', `<html><h1>Bad<p>${'<a '.repeat(333_000)}`],
		['rules', `<html><h1>Bad<p>${'<hr'.repeat(333_000)}`],
		['comments', `<html><h1>Bad<p>${'<!--'.repeat(250_000)}`],
		['scripts', `<html><h1>Bad<p>${'<script>'.repeat(125_000)}`],
		['entities', `<html><h1>Bad<p>${'&#'.repeat(500_000)}`],
	])('is created within seconds for a page with a megabyte of %s', async (_, page) => {
		const since = performance.now();
		expect(seen(await runAfter(answer(400, page, html), getAll()))).toContain(': Bad');
		expect(performance.now() - since).toBeLessThan(3_000);
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
	const jetty9 =
		'<html><head><title>Error 403 No valid crumb was included in the request</title></head><body><h2>HTTP ERROR 403</h2><p>Problem accessing /jobs. Reason:<pre>    No valid crumb was included in the request</pre></p></body></html>';

	const failed = 'Backend fetch failed';
	const unavailable = 'Service Temporarily Unavailable';

	test.each<[string, number, unknown, RegExp, ofLogin?: boolean]>([
		['No valid crumb was included in the request', 403, jetty9, /No valid crumb was included/],
		['The group is locked.', 400, { message: 'The group is locked.' }, /: The group is locked\./],
		['The user is locked', 401, { message: 'The user is locked' }, /the login: The user/, true],
		['', 401, { message: 'Unauthorized' }, /^The username or the password is wrong\n/, true],
		['', 404, { message: 'Not Found' }, /^No login endpoint at /, true],
		['', 502, '<html><h1>502 Bad Gateway</h1></html>', /An HTML page came/],
		[failed, 503, `<html><h1>Error 503 ${failed}</h1></html>`, /Backend fetch failed/],
		[unavailable, 503, `<html><h1>503 ${unavailable}</h1></html>`, /An HTML page came/],
	])('"%s" with %i', async (phrase, status, body, said, ofLogin = false) => {
		withPhrase(phrase);
		const parameters = getAll({ options: { maxRetries: 0 } });
		expect(seen(await runAfter(answer(status, body), parameters, ofLogin))).toMatch(said);
	});
});

describe('The error after a 404', () => {
	const nginx =
		'<html><head><title>404 Not Found</title></head><body><h1>404 Not Found</h1></body></html>';

	test.each<[string, Record<string, string>]>([
		['default backend - 404', { 'content-type': 'text/plain' }],
		["404 Not Found: Requested route ('jobs.example.com') does not exist.", {}],
		['404 page not found', { 'content-type': 'text/plain' }],
		[nginx, html],
	])('says that a proxy sent it, and to try again later: %s', async (body, headers) => {
		for (const parameters of [create(), stop, getAll()]) {
			await fixture.start({});
			const result = await runAfter(answer(404, body, headers), parameters);
			const text = seen(result);
			expect(text).toMatch(/^What stands before the service knows nothing at this address/);
			expect(text).toMatch(/\nTry again later: the service may be starting\./);
			expect(text).not.toMatch(/was not found|No job|'Namespace'|this node's fields/);
			expect(contextOf(result)).toMatchObject({ httpStatus: 404, jobMayExist: false });
		}
		await fixture.start({});
		const text = seen(await runAfter(answer(404, body, headers), getAll(), true));
		expect(text).toMatch(/^No login endpoint at .*\/oauth\/login\n/);
		expect(text).toContain(
			'If it has worked before, try again later: the service may be starting.',
		);
	});

	test.each<[unknown]>([[{ message: 'no such namespace' }], [undefined]])(
		'says to check the fields if the service itself sent the 404, with %j',
		async (body) => {
			expect(seen(await runAfter(answer(404, body)))).toMatch(
				/^The namespace, the workflow template or the work cluster was not found\nCheck 'Namespace'/,
			);
		},
	);
});

test('after a 409 "already exists", the error says to look for the job, which may be an earlier one', async () => {
	const words = 'jobs "night-7" already exists';
	const result = await runAfter(answer(409, { message: words, reason: 'AlreadyExists' }));
	expect(seen(result)).toMatch(
		/^The service refused to create the job: jobs "night-7" already exists\nLook on the service for a job named 'Report' in namespace 'default'/,
	);
	expect(contextOf(result)).toMatchObject({ httpStatus: 409, jobMayExist: false });
});

describe('An error says that the headers are too large', () => {
	const nginx =
		'<html><head><title>400 Request Header Or Cookie Too Large</title></head><body><center><h1>400 Bad Request</h1></center><center>Request Header Or Cookie Too Large</center><hr><center>nginx</center></body></html>';
	const apache =
		'<html><title>400 Bad Request</title><h1>Bad Request</h1><p>Your browser sent a request that this server could not understand. Size of a request header field exceeds server limit.</p></html>';
	const httpSys =
		'<HTML><HEAD><TITLE>Bad Request</TITLE></HEAD><BODY><h2>Bad Request - Request Too Long</h2><hr><p>HTTP Error 400. The size of the request headers is too long.</p></BODY></HTML>';

	test.each<[number, unknown]>([
		[431, undefined],
		[431, { error: 'Request Header Fields Too Large' }],
		[400, nginx],
		[400, apache],
		[400, httpSys],
		[400, 'Request header is too large'],
		[400, { message: 'Request header is too large' }],
		[400, { detail: 'cookie exceeds 8 kB' }],
		[400, { message: 'Authorization header exceeds 4096 bytes' }],
		[400, 'Header value too long: Authorization'],
		[413, 'Request header is too large'],
		[494, undefined],
	])('because of the token, and whom to ask, after %i %j', async (status, body) => {
		for (const parameters of [create(), stop, getAll()]) {
			const text = seen(await runAfter(answer(status, body), parameters));
			expect(text).toMatch(
				/^The request's headers are too large for the service\nThe token of the login is probably too long/,
			);
			expect(text).toMatch(/Use the credential of another user, or ask the administrator/);
			expect(text).not.toContain("this node's fields");
		}
	});

	test.each([
		{ message: 'The CSV header is too long' },
		{ message: 'displayName is too long', job: { inputs: [{ id: 'cookie' }] } },
		{ message: "input 'cookies' has too many values" },
		"input 'table': the header exceeds the allowed size",
	])('not after %j', async (body) => {
		const text = seen(await runAfter(answer(400, body)));
		expect(text).toMatch(/\nCheck this node's fields\.\n/);
	});

	test('without mentioning the token, after a login', async () => {
		const text = seen(await runAfter(answer(431), getAll(), true));
		expect(text).toMatch(
			/^The request's headers are too large for the service\nAsk the administrator/,
		);
	});
});

describe('An error says to check the fields', () => {
	test.each([402, 405, 406, 407, 410, 415, 417, 421, 423, 424, 425, 426, 428, 451, 460])(
		'not after %i, because no field can be the cause',
		async (status) => {
			const text = seen(await runAfter(answer(status, { message: 'no' })));
			expect(text).not.toMatch(/this node's fields|Correct a wrong value/);
			if (status !== 407)
				expect(text).toContain(
					`Ask the administrator of the service what HTTP ${status} means there.`,
				);
		},
	);

	test.each([400, 409, 413, 422])('after %i, because a field can be the cause', async (status) => {
		expect(seen(await runAfter(answer(status, { message: 'no' })))).toMatch(/this node's fields/i);
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
		expect(text).toMatch(/^The credential doesn't allow requests to http/);
		expect(text).toContain(
			"add the service's host to 'Allowed Domains', below 'Allowed HTTP Request Domains'",
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
			`The certificate of ${url} isn't trusted. Give the service a certificate`,
		);
		expect(title).toContain(
			'the issuer of the certificate is unknown (DEPTH_ZERO_SELF_SIGNED_CERT)',
		);
	});

	test.each([
		['CERT_HAS_EXPIRED', 'has expired', /Have the certificate of the service renewed/],
		['CERT_NOT_YET_VALID', 'not valid yet', /check the clock of this n8n/],
		['certificate has expired', 'has expired', /Have the certificate/],
		['ERR_TLS_CERT_ALTNAME_INVALID', 'other host names', /Check the 'Base URL'/],
		["certificate's altnames", 'other host names', /Check the 'Base URL'/],
		['HOSTNAME_MISMATCH', 'other host names', /Check the 'Base URL'/],
		['UNABLE_TO_GET_ISSUER_CERT_LOCALLY', 'issuer of the certificate is unknown', /NODE_EXTRA_CA/],
		['self signed certificate', 'issuer of the certificate is unknown', /NODE_EXTRA_CA_CERTS/],
	])('says for %s: %s', (code, reason, advice) => {
		const { message } = inTitleOnly(meaningOf({ kind: 'certificate', code, ofLogin: true }));
		const title = message.replaceAll('\u2060', '');
		expect(title).toContain(reason);
		expect(title).toMatch(advice);
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
		"Job not stopped for item 1 (counted from 0); 1 of 4 jobs were stopped: Can't stop the job in its current state: it has ended",
	);
	expect(result.error?.description).toContain(
		'To continue, use Retry in the list of executions (the arrow ↷): it runs only the items that are not done.',
	);
	expect(result.error?.description).toContain(
		'\n\nDone: item 0.\nFailed: item 1.\nNot begun: items 2 and 3.',
	);
	// Check that Retry does what the error says.
	const before = fixture.callsOf('changeJobState').length;
	fixture.meets('changeJobState', answer(200));
	const retried = await fixture.engine.retry(result, [node]);
	expect(retried.error).toBeUndefined();
	expect(retried.items).toHaveLength(4);
	expect(fixture.callsOf('changeJobState')).toHaveLength(before + 3);
});

test('an error counts items from 0, and its title says so', async () => {
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
		expect(error?.message).toMatch(/item \d \(counted from 0\)/);
		expect(error?.message).toContain(`item ${String(itemIndex)} `);
		expect(error?.description).not.toContain('counted from 0');
	}
	const all = await fixture.engine.run(
		{ parameters: create({ workflowUid: '={{ "" }}' }) },
		numbered(3),
	);
	expect(all.error?.message).toBe("Nothing was sent. 'Workflow UID' is empty for all 3 items.");
	expect(contextOf(all).itemIndex).toBeUndefined();
});

test('an error hides a password of several words, even if a page breaks the line within it', async () => {
	const password = 'correct horse battery';
	fixture.engine.editCredential({ password });
	const page = `<html><h1>Login failed</h1><p>Not: ${password.replaceAll(' ', '\n')}</p></html>`;
	const text = seen(await runAfter(answer(403, page, html), create(), true));
	expect(text).toContain('a word in it is also the password');
	expect(text).not.toContain('horse');
});
