import { createHash } from 'node:crypto';

import type { Failure } from './failure';
import { mayRetry } from './retryPolicy';
import { ServiceError } from './serviceError';

/** What makes two credentials the same to the service. */
export interface Identity {
	baseUrl: string;
	userName: string;
	password: string;
	ignoreSslIssues: boolean;
}

/**
 * What this process knows of the tokens of one account. n8n asks for a token once for each request that
 * finds none or an expired one, thousands at a time; here they become one log-in.
 */
interface Account {
	/** The log-in under way, which all who come meanwhile wait for. */
	underWay?: Promise<string>;
	newest?: { token: string; since: number };
	/** Digests of the tokens that the newest one replaced, oldest first. */
	replaced: Set<string>;
	/** A log-in that is not worth repeating as it is, such as one with a wrong password. */
	refused?: { error: ServiceError; since: number };
}

/** How long, in milliseconds, whoever comes without a token gets the one just fetched. */
const JUST_FETCHED = 5_000;

/**
 * How long, in milliseconds, a refused log-in is not tried again, so that a batch of requests does not lock
 * the account. (An execution of this node does not ask a second time, however long it takes.)
 */
const REFUSAL_HOLDS = 15_000;

/** Bounds on what is remembered. */
const MOST_ACCOUNTS = 100;
const MOST_REPLACED = 50;

const accounts = new Map<string, Account>();

/**
 * Credentials that were given a token fetched for others: it may have expired since. By the object itself:
 * Connection makes one for each request, and n8n passes that very object on.
 */
const gotSharedToken = new WeakSet<object>();

/**
 * A token for an account, in one log-in at a time:
 * - while a log-in is under way, all wait for it;
 * - a token known to be replaced is exchanged for the newest one;
 * - no token, within seconds of a log-in, is given the token of that log-in;
 * - a refused log-in is refused again for a while, without asking;
 * - else `login` is called. That includes a token that this process has never seen: another process fetched
 *   it, and it may be newer than any known here.
 *
 * @param credentials n8n's object, which holds the rejected token, or '' where there is none
 */
export async function tokenFor(
	identity: Identity,
	credentials: { accessToken?: unknown },
	login: () => Promise<string>,
): Promise<string> {
	const account = accountOf(identity);
	const rejected = typeof credentials.accessToken === 'string' ? credentials.accessToken : '';
	const { newest, refused } = account;
	gotSharedToken.delete(credentials);

	if (account.underWay !== undefined) return await account.underWay;

	if (newest !== undefined) {
		const shared =
			rejected === '' ? isWithin(JUST_FETCHED, newest) : account.replaced.has(digest(rejected));
		if (shared) {
			gotSharedToken.add(credentials);
			return newest.token;
		}
	}
	if (refused !== undefined && isWithin(REFUSAL_HOLDS, refused)) throw refused.error;

	account.underWay = login()
		.then(
			(token) => remember(account, token, rejected),
			(error: unknown) => {
				if (error instanceof ServiceError && isRefusal(error.failure)) {
					account.refused = { error, since: Date.now() };
				}
				throw error;
			},
		)
		.finally(() => delete account.underWay);
	return await account.underWay;
}

/** Whether these credentials were last given a token that others had fetched before, rather than a new one. */
export function wasSharedToken(credentials: object): boolean {
	return gotSharedToken.has(credentials);
}

/** Whether a failure is a log-in that will fail again as long as nobody changes anything. */
export function isRefusal(failure: Failure): boolean {
	return failure.kind === 'login' && !mayRetry(failure, 'idempotent');
}

function remember(account: Account, token: string, rejected: string): string {
	for (const old of [rejected, account.newest?.token ?? '']) {
		if (old !== '') account.replaced.add(digest(old));
	}
	account.replaced.delete(digest(token));
	for (const oldest of account.replaced) {
		if (account.replaced.size <= MOST_REPLACED) break;
		account.replaced.delete(oldest);
	}
	account.newest = { token, since: Date.now() };
	return token;
}

/** The account of an identity, the least recently used one forgotten where there are too many. */
function accountOf(identity: Identity): Account {
	const key = digest(JSON.stringify(identity));
	const account = accounts.get(key) ?? { replaced: new Set() };
	accounts.delete(key);
	accounts.set(key, account);
	for (const [oldest, { underWay }] of accounts) {
		if (accounts.size <= MOST_ACCOUNTS) break;
		if (underWay === undefined) accounts.delete(oldest);
	}
	return account;
}

/** Whether something happened in the last so many milliseconds. A clock that was set back makes it old. */
function isWithin(milliseconds: number, { since }: { since: number }): boolean {
	const age = Date.now() - since;
	return age >= 0 && age < milliseconds;
}

function digest(text: string): string {
	return createHash('sha256').update(text).digest('base64');
}
