import { cancelled, type Failure, failureOf, toolCallOver } from '../errors/failure';
import type { Secrets } from '../errors/secrets';
import { failureFromError } from '../errors/thrown';
import type { ClientRun, RequestOptions } from '../request';
import { isIn, mayResend } from '../retry/policy';
import { isWithin, timeoutSignal, unlessAborted, wait } from '../timers';
import { type Helpers, loginTimedOut, type TokenResult } from './http';
import type { Tokens } from './tokens';

/**
 * Milliseconds for which a refused login isn't repeated. Long enough that executions which start together don't lock the
 * account.
 */
const REFUSED_MS = 30_000;
/** Milliseconds after which a login that has failed in another way, perhaps for a moment, is sent once more. */
const ONCE_MORE_MS = 5_000;
/** The longest wait for a token that another process may be storing, in milliseconds. */
const STORE_WAIT_MS = 1_000;

/** What n8n provides for the requests of one run of this node, or for a request of another node. */
export interface N8nAccess {
	helpers: Helpers;
	/** n8n's signal for a cancel of the execution. */
	cancel?: AbortSignal | undefined;
	/** Reads the value that n8n has stored in the credential. n8n lets no other node read the credential again. */
	readStored?: () => Promise<unknown>;
	/** Logs in, unless `stop`, which is asked directly before, returns a reason against it. */
	logIn: (stop?: () => Failure | undefined) => Promise<TokenResult>;
}

/**
 * How long a request waits for a token: until its `timeout` has passed, until its run ends, or until the signal is
 * aborted.
 */
export interface Limits
	extends Pick<RequestOptions & ClientRun, 'timeout' | 'runEndsAt' | 'signal'> {
	/** When the request began to wait for its permit, in ms since 1970. */
	since: number;
}

/** Returns why nothing more may be sent, if so: the run was stopped, or the time of its tool's call is over. */
export function stopOf({ signal, runEndsAt }: Limits): Failure | undefined {
	if (signal?.aborted === true) return cancelled({ sent: false });
	return performance.now() >= runEndsAt ? toolCallOver() : undefined;
}

/** Returns the result of some work, or why the request that needs it no longer waits for it. */
export async function within<Result>(limits: Limits, work: Promise<Result>) {
	const { timeout, runEndsAt, signal } = limits;
	const remainingMs = runEndsAt - performance.now();
	const limit = timeoutSignal(Math.min(timeout, remainingMs));
	return await unlessAborted(unlessAborted(work, signal), limit).catch(() => {
		const isOver = signal?.aborted !== true && remainingMs < timeout;
		return { failure: stopOf(limits) ?? (isOver ? toolCallOver() : loginTimedOut(timeout)) };
	});
}

/** Searches for a token for all requests of an account, in n8n's store and by a login, and remembers a failed login. */
export class TokenSearch {
	/** The search that is in progress, and the limits of all requests that need its result. */
	private search: Promise<TokenResult> | undefined;
	private readonly waiting = new Set<Limits>();
	/** The last login that has failed and isn't repeated at once, and the time of its failure, in ms since 1970. */
	private failed: { failure: Failure; at: number } | undefined;

	constructor(
		private readonly tokens: Tokens,
		private readonly secrets: Secrets,
	) {}

	/**
	 * Searches for a token. All requests that need one share the search, which continues even if none of them can wait any
	 * longer. A login that has failed while a request waited for its permit has failed for this request, too. Never throws.
	 *
	 * @param except the token that must not be the result
	 */
	async find(access: N8nAccess, limits: Limits, except?: string): Promise<TokenResult> {
		const { failed } = this;
		if (this.search === undefined && failed && limits.since < failed.at) return failed;
		this.waiting.add(limits);
		this.search ??= this.findForAll(access, except)
			.catch((error: unknown) => ({ failure: failureFromError(error, this.secrets) }))
			.finally(() => {
				this.search = undefined;
				this.waiting.clear();
			});
		return await within(limits, this.search);
	}

	private async findForAll(access: N8nAccess, except: string | undefined): Promise<TokenResult> {
		const { tokens, failed } = this;
		const found = () => (tokens.newest === except ? undefined : tokens.newest);
		await this.readStore(access);
		// If this process has had a token before, another process may be replacing it by a login.
		if (found() === undefined && access.readStored && tokens.replaced.size > 0) {
			await wait(Math.random() * STORE_WAIT_MS);
			await this.readStore(access);
		}
		const token = found();
		if (token !== undefined) return { token };
		if (failed && isRefusal(failed.failure) && isWithin(REFUSED_MS, failed.at)) return failed;
		const result = await this.logIn(access, this.stop);
		// As long as there is a token that may be good, one login is enough.
		const isFinal = 'token' in result || isRefusal(result.failure) || tokens.newest !== undefined;
		if (isFinal || mayResend(result.failure, true)) return result;
		await wait(ONCE_MORE_MS);
		return await this.logIn(access, this.stop);
	}

	/** Returns a failure if nobody needs the login any more. A request that comes a moment later sends it again. */
	private readonly stop = (): Failure | undefined => {
		const isNeeded = [...this.waiting].some((limits) => stopOf(limits) === undefined);
		if (isNeeded) return undefined;
		return failureOf({ condition: 'n8nFailed', title: 'The execution was stopped', advice: '' });
	};

	/** Uses the token in n8n's store if this process doesn't know it. If the store can't be read, the node logs in. */
	async readStore({ readStored }: N8nAccess): Promise<void> {
		this.tokens.useStored(await readStored?.().catch(() => undefined));
	}

	/** Logs in, whatever became of earlier logins. */
	async logIn(access: N8nAccess, stop?: () => Failure | undefined): Promise<TokenResult> {
		const result = await access.logIn(stop);
		if ('token' in result) this.failed = undefined;
		else if (!mayResend(result.failure, true)) this.failed = { ...result, at: Date.now() };
		// A login that was not sent counts as none.
		const wasSent = 'token' in result || result.failure.ofLogin === true;
		const token = 'token' in result ? result.token : undefined;
		if (wasSent) this.tokens.loggedIn(token, access.readStored !== undefined);
		return result;
	}
}

/** Decides whether the service has refused a login. A 404 or a 408 may come from a proxy while the service starts. */
const isRefusal = ({ httpStatus, condition }: Failure) =>
	condition !== 'throttled' && isIn('400-403 405-407 409-499', httpStatus ?? 0);
