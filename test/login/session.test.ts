import { newToken } from '../../nodes/JobOrchestration/service/session/authentication';
import { tokenOf } from '../../nodes/JobOrchestration/service/session/account';
import type { Helpers } from '../../nodes/JobOrchestration/service/session/login';
import { TrackedRequest } from '../../nodes/JobOrchestration/service/session/trackedRequest';
import type { Session } from '../../nodes/JobOrchestration/service/session/session';
import { sessionOf } from '../../nodes/JobOrchestration/service/session/sessions';

/*
 * What is remembered of an account, and for how long. The service is left out: what counts is how often it is asked.
 */

/** Another account in each test. */
let form = { baseUrl: 'http://jobs.example.com', userName: 'a', password: 'p' };

let session: Session;
/** The statuses of the next logins; 200, with tokens 1, 2 and so on, if there are none left. */
let answers: Array<number | Promise<number>>;
let logins: number;

beforeEach(() => {
	form = { ...form, userName: `${form.userName}a` };
	session = sessionOf(form);
	[answers, logins] = [[], 0];
});
afterEach(() => {
	jest.restoreAllMocks();
});

const httpRequest = async ({ method }: { method: string }) => {
	// It accepts each token.
	if (method === 'GET') return { statusCode: 200, headers: {}, body: {} };
	const body = { access_token: String((logins += 1)) };
	return { statusCode: await (answers.shift() ?? 200), headers: {}, body };
};
const helpers = { httpRequest } as unknown as Helpers;

/** A request of this node, with a store that holds these tokens, one at each read. */
function own(
	stored: Array<string | undefined> = [],
	more: Partial<TrackedRequest['options']> = {},
): TrackedRequest {
	return new TrackedRequest({
		timeout: 60_000,
		execution: {},
		onSent: () => {},
		readAgain: async () => {
			const token = stored.shift();
			return await Promise.resolve({
				accessToken: token === undefined ? '' : session.toStored(token),
			});
		},
		...more,
	});
}

/** What comes of asking for a token: the token, or the status of the failed login. */
async function ask(request: TrackedRequest): Promise<unknown> {
	const result = await session.token(helpers, request);
	if (result === undefined || 'token' in result) return result?.token;
	return 'status' in result.failure ? result.failure.status : result.failure.kind;
}

/** Another node without a token asks for one, above all n8n's test of a credential. */
async function askAsOther(): Promise<unknown> {
	const { accessToken } = await newToken(helpers, { ...form });
	return tokenOf(accessToken);
}

async function renew(token: string, request = own()): Promise<unknown> {
	session.reject(token);
	return await ask(request);
}

function clockAt(ms: number): void {
	jest.spyOn(Date, 'now').mockReturnValue(performance.timeOrigin + 1e6 + ms);
}

function later<Value>(): { promise: Promise<Value>; resolve: (value: Value) => void } {
	let resolve: (value: Value) => void = () => {};
	const promise = new Promise<Value>((done) => (resolve = done));
	return { promise, resolve };
}

describe('a token', () => {
	test.each<[string, number, number]>([
		['just now', 0, 1],
		['almost five seconds ago', 4_999, 1],
		['five seconds ago', 5_000, 2],
		['in the future, by a clock that went back', -1, 2],
	])('for a caller without one, after a login %s (%i ms)', async (_, age, times) => {
		clockAt(0);
		await askAsOther();
		clockAt(age);
		await askAsOther();
		expect(logins).toBe(times);
	});

	test('that was replaced: the newest is taken without a login, and the store is not read', async () => {
		await ask(own());
		await renew('1');
		const readAgain = jest.fn();
		expect(await renew('1', own([], { readAgain }))).toBe('2');
		expect(readAgain).not.toHaveBeenCalled();
	});

	test('that the service gives again is not taken for a rejected one', async () => {
		session.reject('1');
		expect(await ask(own())).toBe('1');
		expect(session.fromStored(session.toStored('1'))).toBe('1');
	});

	test('of another process is taken from the store, and by those who come later', async () => {
		await ask(own());
		expect(await renew('1', own(['theirs']))).toBe('theirs');
		expect(await ask(own())).toBe('theirs');
		expect(logins).toBe(1);
	});

	test('that is rejected: ten wait for another process, and log in together', async () => {
		await ask(own());
		const tokens = Array.from({ length: 10 }, async () => {
			const request = own(['1', '1']);
			request.beginAgain();
			return await renew('1', request);
		});
		expect(new Set(await Promise.all(tokens))).toEqual(new Set(['2']));
	});
});

describe('a login in flight', () => {
	test('that is given up blocks no other request, and those that wait still take its token', async () => {
		const hangs = later<number>();
		answers = [hangs.promise];
		const patient = ask(own());
		expect(await ask(own([], { timeout: 20 }))).toBe('timeout');
		expect(await ask(own())).toBe('2');
		hangs.resolve(200);
		expect(await patient).toBe('1');
	});

	test('that is given up is tried again after 30 s, however often it was asked for in between', async () => {
		answers = [later<number>().promise];
		const execution = {};
		clockAt(0);
		expect(await ask(own([], { execution, timeout: 20 }))).toBe('timeout');
		clockAt(20_000);
		expect(await ask(own([], { execution, timeout: 20 }))).toBe('timeout');
		expect(logins).toBe(1);
		clockAt(30_000);
		expect(await ask(own([], { execution, timeout: 20 }))).toBe('2');
	});

	test('that is given up is tried again at once by a request with more time', async () => {
		answers = [later<number>().promise];
		const execution = {};
		expect(await ask(own([], { execution, timeout: 20 }))).toBe('timeout');
		expect(await ask(own([], { execution, timeout: 60_000 }))).toBe('2');
	});

	test('does not begin for a request that was cancelled while the store was read', async () => {
		const stop = new AbortController();
		const asked = ask(own([], { signal: stop.signal }));
		const other = ask(own());
		stop.abort();
		expect(await asked).toBeUndefined();
		// Only for another one that waited with it.
		expect(await other).toBe('1');
		expect(logins).toBe(1);
	});
});

describe('a login that failed', () => {
	test.each<[string, number, { isSame?: boolean; age: number }, number]>([
		['refused, 5 s ago, by another execution', 401, { age: 5_000 }, 2],
		['refused, almost 5 s ago, by another one', 401, { age: 4_999 }, 1],
		['for its password, an hour ago, by the same', 401, { isSame: true, age: 3.6e6 }, 1],
		['with 499, an hour ago, by the same', 499, { isSame: true, age: 3.6e6 }, 1],
		['with 404, almost 30 s ago, by the same', 404, { isSame: true, age: 29_999 }, 1],
		['with 404, 30 s ago, by the same', 404, { isSame: true, age: 30_000 }, 2],
		['with 405, 30 s ago, by the same', 405, { isSame: true, age: 30_000 }, 2],
		['with 501, 30 s ago, by the same', 501, { isSame: true, age: 30_000 }, 2],
		['by a redirect, 30 s ago, by the same', 302, { isSame: true, age: 30_000 }, 2],
		['as the service was down', 503, { isSame: true, age: 0 }, 2],
	])('%s', async (_, status, { isSame = false, age }, times) => {
		answers = [status, status];
		const [one, other] = [own(), own()];
		clockAt(0);
		expect(await ask(one)).toBe(status);
		clockAt(age);
		expect(await ask(isSame ? one : other)).toBe(status);
		expect(logins).toBe(times);
	});

	test('is forgotten once one succeeds', async () => {
		answers = [401, 200, 401];
		const request = own();
		clockAt(0);
		await ask(request);
		clockAt(5_000);
		await ask(own());
		clockAt(60_000);
		expect(await renew('2', request)).toBe(401);
		expect(logins).toBe(3);
	});
});

test('an account is all that the login depends on', () => {
	const forms = [
		form,
		{ ...form, baseUrl: 'http://other.example.com' },
		{ ...form, userName: 'b' },
		{ ...form, password: 'q' },
		{ ...form, ignoreSslIssues: true },
	];
	expect(new Set(forms.map((differing) => sessionOf(differing))).size).toBe(forms.length);
	expect(new Set(forms.map((differing) => sessionOf(differing).toStored('t'))).size).toBe(
		forms.length,
	);
	expect(sessionOf({ ...form, baseUrl: 'HTTP://Jobs.example.com:80/' })).toBe(sessionOf(form));
});
