import { createHash } from 'node:crypto';

import type { Account } from './account';
import { byAccount } from './byAccount';
import type { RequestFailure } from '../errors/failure';
import { mayRetry } from '../errors/retryPolicy';
import { wait } from '../request/timers';

/** What came of a log-in. A failure is plain data: each request that waited for it makes an error of its own. */
export type LoginResult = { token: string } | { failure: RequestFailure };

/** Where a token can come from. */
export interface TokenSources {
	/** Whether the token is to replace a rejected one. */
	isRenewal: boolean;
	/** Called when the caller waits for a login. Resolves when it does not wait any longer; the login itself goes on. */
	loginGivenUp?: () => Promise<RequestFailure>;
	/** Whether a log-in must not begin for the caller any more. */
	isCancelled?: () => boolean;
	/** Reads the token in the stored credential. */
	storedToken?: () => Promise<string | undefined>;
	/** The same object for all requests of an execution; undefined where n8n has none. */
	execution?: object | undefined;
	/** Asks the service whether it accepts a token; missing where the caller finds out by its own request. */
	isGood?: (token: string) => Promise<boolean>;
	login: () => Promise<LoginResult>;
}

/**
 * What this process knows of the tokens of one account. n8n asks for a token once for each request that
 * finds none or a rejected one, thousands at a time; here they become one log-in.
 */
interface AccountTokens {
	/** The log-in under way: all who need a token meanwhile wait for it. */
	loginInFlight?: Promise<LoginResult>;
	/** The newest token, from a log-in or from the stored credential, and when it came. */
	newest?: { token: string; since: number };
	/** The token of the last log-in, and when that began. */
	fetched?: { token: string; since: number };
	/** The wait of all who leave the log-in to another process. */
	backOff?: Promise<void>;
	/** The tokens that the service has rejected, the oldest first. */
	rejected: Set<string>;
	/** The last log-in, if it is not worth repeating, as with a wrong password. */
	refused?: { failure: RequestFailure; since: number };
	/** The executions that were told of a refused log-in, and when. */
	refusedTo: WeakMap<object, { failure: RequestFailure; since: number }>;
}

/**
 * Milliseconds for which a new token is also given to whoever has none. If it is rejected within that time, the
 * log-in of another process has probably ended it.
 */
const JUST_FETCHED = 5_000;

/**
 * Milliseconds for which a refused log-in is not tried again, so that a crowd of requests or executions does not lock the
 * account; and by the same execution, whose Retry On Fail has up to five tries, with up to five seconds between them. A
 * password that may be wrong is not tried again by the same execution at all.
 */
const REFUSAL_HOLDS = 5_000;
const REFUSAL_HOLDS_FOR_EXECUTION = 30_000;

/**
 * Milliseconds to wait before a log-in if another process has probably just logged in, and the most that is added
 * at random: the process that waits longer finds the other's token in the stored credential.
 */
const MIN_BACK_OFF = 100;
const BACK_OFF_JITTER = 400;

/** How many rejected tokens are remembered. */
const MAX_REJECTED = 50;

const tokensOf = byAccount<AccountTokens>(
	() => ({ rejected: new Set(), refusedTo: new WeakMap() }),
	({ loginInFlight }) => loginInFlight === undefined,
);

/**
 * Gets a token with as few log-ins as possible, even if the service lets only a user's newest token live and other
 * processes log in as well:
 * - while a log-in is under way, all wait for it;
 * - a known or stored token is taken, unless it has been rejected;
 * - if the newest one was rejected soon after it came, this is tried once more after a short wait;
 * - a refused log-in stays refused for a while, and a wrong password to an execution that has tried it;
 * - else there is a log-in.
 *
 * Whoever has no token gets a known one only within seconds of its log-in, so that n8n's test of a credential is
 * a log-in.
 */
export async function getToken(account: Account, sources: TokenSources): Promise<LoginResult> {
	const tokens = tokensOf(account);
	const result = await findToken(tokens, sources);
	if ('failure' in result && result.failure === tokens.refused?.failure) {
		noteRefusal(tokens.refused, sources, tokens);
	}
	return result;
}

async function findToken(tokens: AccountTokens, sources: TokenSources): Promise<LoginResult> {
	if (tokens.loginInFlight !== undefined)
		return await unlessGivenUp(tokens.loginInFlight, tokens, sources);

	let known = await knownToken(tokens, sources);
	if (known === undefined && sources.storedToken !== undefined && wasRejectedEarly(tokens)) {
		// All together, so that one of them logs in for the others.
		tokens.backOff ??= wait(MIN_BACK_OFF + Math.round(Math.random() * BACK_OFF_JITTER)).finally(
			() => delete tokens.backOff,
		);
		const givenUp = await Promise.race([
			tokens.backOff,
			sources.loginGivenUp?.() ?? tokens.backOff,
		]);
		if (givenUp !== undefined) return { failure: givenUp };
		known = await knownToken(tokens, sources);
	}
	if (known !== undefined) return { token: known };

	const { refused } = tokens;
	if (refused !== undefined && isRefusedTo(sources, tokens, refused)) return refused;

	if (sources.isCancelled?.() === true) return { failure: { kind: 'cancelled', sent: false } };
	tokens.loginInFlight ??= startLogin(tokens, sources);
	return await unlessGivenUp(tokens.loginInFlight, tokens, sources);
}

/** Begins a log-in, for all who need a token until it ends. */
function startLogin(tokens: AccountTokens, { login }: TokenSources): Promise<LoginResult> {
	const since = Date.now();
	const loginInFlight = login()
		.then((result) => {
			if ('token' in result) {
				remember(tokens, result.token);
				tokens.fetched = { token: result.token, since };
				delete tokens.refused;
				tokens.refusedTo = new WeakMap();
			} else if (!mayRetry(result.failure, { idempotent: true })) {
				tokens.refused = { failure: result.failure, since: Date.now() };
			}
			return result;
		})
		.finally(() => {
			if (tokens.loginInFlight === loginInFlight) delete tokens.loginInFlight;
		});
	return loginInFlight;
}

/** Whether a refused log-in stays refused for whoever asks. */
function isRefusedTo(
	{ execution }: TokenSources,
	{ refusedTo }: AccountTokens,
	refused: { since: number },
): boolean {
	if (isWithin(REFUSAL_HOLDS, refused)) return true;
	const told = execution === undefined ? undefined : refusedTo.get(execution);
	if (told === undefined) return false;
	return refusesUser(told.failure) || isWithin(REFUSAL_HOLDS_FOR_EXECUTION, told);
}

/**
 * Whether the service may have refused the user name or the password. The interface doesn't show how it does that: by
 * any status of 400 to 499, except one for an address without a log-in.
 */
function refusesUser(failure: RequestFailure): boolean {
	return failure.kind === 'status' && failure.status < 500 && ![404, 405].includes(failure.status);
}

/** Notes that an execution was told of a refused log-in. */
function noteRefusal(
	refused: { failure: RequestFailure; since: number },
	{ execution }: TokenSources,
	{ refusedTo }: AccountTokens,
): void {
	if (execution === undefined) return;
	const told = refusedTo.get(execution);
	if (told !== undefined && (refusesUser(told.failure) || told.since >= refused.since)) return;
	refusedTo.set(execution, { failure: refused.failure, since: Date.now() });
}

/** What comes of a log-in, unless the caller gives it up: after its time-out, the next one to come begins anew. */
async function unlessGivenUp(
	loginInFlight: Promise<LoginResult>,
	tokens: AccountTokens,
	{ loginGivenUp }: TokenSources,
): Promise<LoginResult> {
	if (loginGivenUp === undefined) return await loginInFlight;
	const givenUp = loginGivenUp().then((failure) => {
		if (failure.kind === 'timeout' && tokens.loginInFlight === loginInFlight)
			delete tokens.loginInFlight;
		return { failure };
	});
	return await Promise.race([loginInFlight, givenUp]);
}

/** Notes that the service has rejected a token. */
export function markRejected(account: Account, token: string): void {
	const { rejected } = tokensOf(account);
	rejected.add(digest(token));
	const [oldest] = rejected;
	if (rejected.size > MAX_REJECTED && oldest !== undefined) rejected.delete(oldest);
}

/** Whether the service is known to have rejected a token. */
export function wasRejected(account: Account, token: string): boolean {
	const { rejected } = tokensOf(account);
	return rejected.size > 0 && rejected.has(digest(token));
}

/** Whether a token came from a log-in of this process, not before that time. */
export function wasFetchedSince(account: Account, token: string, time: number): boolean {
	const { fetched } = tokensOf(account);
	return fetched !== undefined && fetched.token === token && fetched.since >= time;
}

/** A token that has not been rejected: the newest one, else the stored one. */
async function knownToken(
	tokens: AccountTokens,
	sources: TokenSources,
): Promise<string | undefined> {
	const { isRenewal, storedToken, isGood } = sources;
	const mayBeGood = async (token: string): Promise<boolean> => {
		if (tokens.rejected.has(digest(token))) return false;
		return isGood === undefined || (await isGood(token));
	};

	const { newest } = tokens;
	if (newest !== undefined && (isRenewal || isWithin(JUST_FETCHED, newest))) {
		if (await mayBeGood(newest.token)) return newest.token;
	}
	const other = await storedToken?.();
	if (other !== undefined && (await mayBeGood(other))) {
		remember(tokens, other);
		return other;
	}
	// A newer one may have come meanwhile.
	return tokens.newest === newest ? undefined : await knownToken(tokens, sources);
}

function remember(tokens: AccountTokens, token: string): void {
	tokens.rejected.delete(digest(token));
	tokens.newest = { token, since: Date.now() };
}

/** Whether the newest token was rejected soon after it came. */
function wasRejectedEarly({ newest, rejected }: AccountTokens): boolean {
	return (
		newest !== undefined && rejected.has(digest(newest.token)) && isWithin(JUST_FETCHED, newest)
	);
}

/** Whether something is younger than so many milliseconds; it never is once the clock was set back. */
function isWithin(milliseconds: number, { since }: { since: number }): boolean {
	const age = Date.now() - since;
	return age >= 0 && age < milliseconds;
}

function digest(text: string): string {
	return createHash('sha256').update(text).digest('base64');
}
