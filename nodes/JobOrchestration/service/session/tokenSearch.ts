import { HEALTH_CHECK } from '../calls/clusters';
import { cancelled, type Failure, failureOf, toolCallOver } from '../errors/failure';
import type { Result } from '../errors/result';
import { failureFromError } from '../errors/thrown';
import type { ClientRun, RequestOptions } from '../request';
import { isIn, mayResend } from '../policy';
import { isWithin, timeoutSignal, unlessAborted, wait } from '../timers';
import { type Helpers, loginTimedOut, sendOnce, type TokenResult } from './http';
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
 * What an attempt needs besides the request. It waits for a token until its `timeout` has passed, until its run ends, or
 * until the signal is aborted. The requests of a drop-down, which have a `patienceMs`, don't wait until a token is valid.
 */
export interface AttemptOptions
	extends Pick<RequestOptions & ClientRun, 'timeout' | 'runEndsAt' | 'signal' | 'patienceMs'> {
	access: N8nAccess;
	/** When the request began to wait for its permit, in ms since 1970. */
	since: number;
	/** Called each time that the request is sent. */
	onSend?: () => void;
}

/** Returns why nothing more may be sent, if so: the run was stopped, or the time of its tool's call is over. */
export function stopOf({ signal, runEndsAt }: AttemptOptions): Failure | undefined {
	if (signal?.aborted === true) return cancelled({ sent: false });
	return performance.now() >= runEndsAt ? toolCallOver() : undefined;
}

/** Returns the result of some work, or why the request that needs it no longer waits for it. */
export async function within<Value>(options: AttemptOptions, work: Promise<Value>) {
	const { timeout, runEndsAt, signal } = options;
	const remainingMs = runEndsAt - performance.now();
	const isOver = remainingMs < timeout;
	const limit = timeoutSignal(Math.min(timeout, remainingMs));
	return await unlessAborted(unlessAborted(work, signal), limit).catch(() => ({
		failure: stopOf(options) ?? (isOver ? toolCallOver() : loginTimedOut(timeout)),
	}));
}

/** Searches for a token for all requests of an account, in n8n's store and by a login, and remembers a failed login. */
export class TokenSearch {
	/** The search that is in progress, with the access to n8n that it uses, and the attempts that need its result. */
	private search: { result: Promise<TokenResult>; access: N8nAccess } | undefined;
	private readonly waiting = new Set<AttemptOptions>();

	constructor(
		private readonly tokens: Tokens,
		private readonly sender: Parameters<typeof sendOnce>[1],
	) {}

	/**
	 * Searches for another token than the newest one. All requests that need one share the search, which continues even if
	 * none of them can wait any longer. A login that has failed while a request waited for its permit has failed for this
	 * request, too, if there is no token. If n8n itself fails in the search of another run, a request searches once more.
	 * Never throws.
	 *
	 * @param rejection whether a 401 has rejected the newest token. If this is only possible, because the 401 may be the
	 * request's own, a health check with the token comes before a login. Undefined if there was no 401: the token then
	 * stays in use until another one is found. The token is the result if the service accepts it in a request that is sent
	 * from now on
	 */
	async find(options: AttemptOptions, rejection?: 'certain' | 'possible'): Promise<TokenResult> {
		const { failedLogin, newest } = this.tokens;
		const hasFailedSince = isWithin(Date.now() - options.since, failedLogin?.at);
		if (!this.search && newest === undefined && failedLogin && hasFailedSince) return failedLogin;
		const first = this.join(options, rejection);
		const search = async () => {
			const found = await first.result;
			const hasN8nFailed = 'failure' in found && found.failure.condition === 'n8nFailed';
			const isOfOther = first.access !== options.access;
			return hasN8nFailed && isOfOther ? await this.join(options, rejection).result : found;
		};
		return await within(options, search());
	}

	/** Returns the search that is in progress, or begins one. */
	private join(options: AttemptOptions, rejection?: 'certain' | 'possible') {
		this.waiting.add(options);
		return (this.search ??= {
			access: options.access,
			result: this.findForAll(options.access, rejection)
				.catch((error: unknown) => ({ failure: failureFromError(error, this.sender.secrets) }))
				.finally(() => {
					this.search = undefined;
					this.waiting.clear();
				}),
		});
	}

	private async findForAll(access: N8nAccess, rejection?: 'certain' | 'possible') {
		const { tokens } = this;
		const { newest: old } = tokens;
		const startedAt = performance.now();
		const isFound = () => tokens.newest !== old || tokens.isAcceptedSince(startedAt);
		await this.readStore(access);
		const stopped = this.stop();
		if (stopped !== undefined) return { failure: stopped };
		if (!isFound() && rejection === 'possible' && old !== undefined)
			await this.check(access.helpers, old);
		// If a token of this process was rejected, another process may be replacing it by a login.
		const wasRejected = rejection !== undefined || tokens.replaced.size > 0;
		if (!isFound() && access.readStored && wasRejected) {
			await wait(Math.random() * STORE_WAIT_MS);
			await this.readStore(access);
		}
		if (isFound() && tokens.newest !== undefined) return { token: tokens.newest };
		if (rejection !== undefined && old !== undefined) tokens.reject(old);
		const { failedLogin } = tokens;
		if (failedLogin && isRefusal(failedLogin.failure) && isWithin(REFUSED_MS, failedLogin.at))
			return failedLogin;
		const result = await this.logIn(access, this.stop);
		// As long as there is a token that may be good, one login is enough.
		const isFinal = 'token' in result || isRefusal(result.failure) || tokens.newest !== undefined;
		if (isFinal || mayResend(result.failure, true)) return result;
		await wait(ONCE_MORE_MS);
		return await this.logIn(access, this.stop);
	}

	/** Asks the service by a health check whether it accepts a token. */
	async check(helpers: Helpers, token: string): Promise<Result<unknown>> {
		const sentAt = performance.now();
		const result = await sendOnce(helpers, this.sender, HEALTH_CHECK, { token });
		if ('body' in result) this.tokens.accept(token, sentAt);
		return result;
	}

	/** Returns a failure if nobody needs the login any more. A request that comes a moment later sends it again. */
	private readonly stop = (): Failure | undefined => {
		const isNeeded = [...this.waiting].some((options) => stopOf(options) === undefined);
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
		// A login that was not sent counts as none.
		const wasSent = 'token' in result || result.failure.ofLogin === true;
		if (wasSent) this.tokens.loggedIn(result, access.readStored !== undefined);
		return result;
	}
}

/** Decides whether the service has refused a login. A 404 or a 408 may come from a proxy while the service starts. */
const isRefusal = ({ httpStatus, condition }: Failure) =>
	condition !== 'throttled' && isIn('400-403 405-407 409-499', httpStatus ?? 0);
