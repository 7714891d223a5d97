import { createHash } from 'node:crypto';

import type { ICredentialDataDecryptedObject } from 'n8n-workflow';

import { cancelled, type Failure, toolCallOver } from '../errors/failure';
import { Secrets } from '../errors/secrets';
import { failureFromError } from '../errors/thrown';
import { AccountLimiter } from '../pace/limiter';
import type { ClientRun, RequestOptions } from '../request';
import type { TokenVerdict } from '../retry/facts';
import { isIn, mayResend, RETRY } from '../retry/policy';
import { isWithin, timeoutSignal, unlessAborted, wait } from '../timers';
import { type Account, accountOf } from './account';
import { loginTimedOut, type TokenResult } from './http';
import { type JudgedRequest, Tokens } from './tokens';

/**
 * Milliseconds for which a refused login isn't repeated. Long enough that executions which start together don't lock the
 * account.
 */
const REFUSED_MS = 30_000;
/** The longest wait for a token that another process may be storing, in milliseconds. */
const STORE_WAIT_MS = 1_000;

/** How to find a token for the requests of one run of this node, or for a request of another node. */
export interface TokenSource {
	/**
	 * Reads the value that n8n has stored in the credential. Only a source for calls of this node has it: n8n lets no
	 * other node read the credential again.
	 */
	readStored?: () => Promise<unknown>;
	logIn: () => Promise<TokenResult>;
}

/**
 * How long a request waits for a token: until its `timeout` has passed, until its run ends, or until the signal is
 * aborted.
 */
export type WaitLimits = Pick<RequestOptions & ClientRun, 'timeout' | 'runEndsAt' | 'signal'>;

/** The state of one account in this process: its rate limiter, and the token that all its requests share. */
export class Session {
	readonly limiter = new AccountLimiter();
	/** The password and the latest tokens, which no error may show. */
	readonly secrets: Secrets;
	readonly tokens: Tokens;
	/** When the account was last used, by `performance.now()`. */
	usedAt = 0;
	/** When a health check failed with a new token that was meant for another node, in ms since 1970. */
	unconfirmedAt: number | undefined;
	/** The search for a token that is in progress. */
	private search: Promise<TokenResult> | undefined;
	private refusal: { failure: Failure; at: number } | undefined;
	/** The failed logins that their runs don't repeat. */
	private readonly failures = new WeakMap<TokenSource, Failure>();

	constructor(readonly account: Account) {
		this.secrets = new Secrets(account.password);
		this.tokens = new Tokens(account, this.secrets);
	}

	/**
	 * Returns the newest token. If no token is known, or if it is suspect, all callers wait for the same search. If the search
	 * fails, or has failed in this run before, a suspect token stays in use.
	 */
	async token(source: TokenSource, limits: WaitLimits): Promise<TokenResult> {
		const { tokens, failures } = this;
		const { newest, suspect } = tokens;
		const known = failures.get(source);
		if (newest !== undefined && (newest !== suspect || known)) return { token: newest };
		if (known !== undefined) return { failure: known };
		const found = await within(limits, this.renew(source, suspect));
		if ('token' in found || tokens.suspect !== undefined || tokens.newest === undefined)
			return found;
		return { token: tokens.newest };
	}

	/**
	 * Searches for a token: in n8n's store, then by a login. Concurrent callers share one search, which continues even if
	 * none of them waits for it any more. Never throws.
	 *
	 * @param except the suspect token, if there is one. It must not be the result
	 */
	async renew(source: TokenSource, except?: string): Promise<TokenResult> {
		this.search ??= this.find(source, except)
			.catch((error: unknown) => ({ failure: failureFromError(error, this.secrets) }))
			.finally(() => (this.search = undefined));
		const result = await this.search;
		if ('failure' in result) {
			this.tokens.suspect = undefined;
			if (isFinal(result.failure)) this.failures.set(source, result.failure);
		}
		return result;
	}

	private async find(source: TokenSource, except: string | undefined): Promise<TokenResult> {
		const { tokens } = this;
		const found = () => (tokens.newest === except ? undefined : tokens.newest);
		await this.readStore(source);
		// If this process has rejected a token, another process may be logging in.
		if (found() === undefined && source.readStored && tokens.hasRecentRejection) {
			await wait(Math.random() * STORE_WAIT_MS);
			await this.readStore(source);
		}
		const token = found();
		if (token !== undefined) return { token };
		const { refusal } = this;
		return refusal && isWithin(REFUSED_MS, refusal.at) ? refusal : await this.logIn(source);
	}

	private async readStore({ readStored }: TokenSource): Promise<void> {
		// If the store can't be read, the node logs in.
		this.tokens.useStored(await readStored?.().catch(() => undefined));
	}

	/** Logs in, whatever became of earlier logins. */
	async logIn(source: TokenSource): Promise<TokenResult> {
		const result = await source.logIn();
		if ('token' in result) {
			this.tokens.issue(result.token, source.readStored !== undefined);
			this.refusal = undefined;
		} else if (isRefusal(result.failure)) {
			this.refusal = { ...result, at: Date.now() };
		}
		return result;
	}

	/**
	 * Decides whether a request has failed because of its token, and replaces the token if so. A suspect token is given up
	 * only once a login has brought another one; until then, other requests use it.
	 */
	async judge(
		source: TokenSource,
		request: JudgedRequest,
		limits: WaitLimits,
	): Promise<TokenVerdict> {
		const { tokens } = this;
		const { token, suspicion, mayChangeToken } = request;
		const verdict = tokens.judge(request);
		if (verdict === 'suspect') {
			if (!mayChangeToken) tokens.suspect = token;
			if (!mayChangeToken || this.failures.has(source)) return 'accepted';
			const found = await within(limits, this.renew(source, token));
			return 'token' in found ? 'replaced' : 'accepted';
		}
		// Another process may have logged in, which ends this token if the service keeps one token for each user.
		if (suspicion === 'rejected' && verdict !== 'replaced')
			await within(limits, this.readStore(source));
		return token === tokens.newest ? verdict : 'replaced';
	}
}

/** Returns the result of some work, or why the request that needs it no longer waits for it. */
async function within<Result>(
	{ timeout, runEndsAt, signal }: WaitLimits,
	work: Promise<Result>,
): Promise<Result | { failure: Failure }> {
	const remainingMs = runEndsAt - performance.now();
	const limit = timeoutSignal(Math.min(timeout, remainingMs));
	return await unlessAborted(unlessAborted(work, signal), limit).catch(() => {
		if (signal?.aborted === true) return { failure: cancelled({ sent: false }) };
		return { failure: remainingMs < timeout ? toolCallOver() : loginTimedOut(timeout) };
	});
}

/** Decides whether the service has refused a login. A 404 or a 408 may come from a proxy while the service starts. */
function isRefusal(failure: Failure): boolean {
	const { httpStatus } = failure;
	return isFinal(failure) && httpStatus !== null && isIn('400-403 405-407 409-499', httpStatus);
}

/** Decides whether a login isn't repeated in its run. If it is, the call that waits for it is sent again. */
const isFinal = (failure: Failure) => failure.ofLogin === true && !mayResend(failure, true);

/** The sessions, keyed by a hash of the account so that no key holds a password. */
const sessions = new Map<string, Session>();

/**
 * Returns the session of a credential's account. Sessions that were not used for an hour are deleted, with their
 * passwords and with what their rate limiters have learnt.
 *
 * @throws ServiceError if a field of the credential can't be used
 */
export function sessionOf(credentials: ICredentialDataDecryptedObject): Session {
	const now = performance.now();
	const account = accountOf(credentials);
	const key = createHash('sha256').update(JSON.stringify(account)).digest('base64');
	for (const [oldKey, { usedAt }] of sessions) {
		if (now >= usedAt + RETRY.memoryMs) sessions.delete(oldKey);
	}
	const session = sessions.get(key) ?? new Session(account);
	session.usedAt = now;
	sessions.set(key, session);
	return session;
}
