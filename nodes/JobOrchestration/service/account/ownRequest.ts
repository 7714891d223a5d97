import type { ICredentialDataDecryptedObject } from 'n8n-workflow';

import type { Account } from './account';
import type { RequestFailure } from '../request/failure';
import { onAbort, onDeadline } from '../request/timers';

/** What holds for a request of this node's own. */
interface OwnRequestOptions {
	/** Milliseconds that it may take once it is sent, to the end of its answer. */
	timeout: number;
	/** Called when it is sent. */
	onSent: () => void;
	/** The execution's cancel. */
	cancelSignal: AbortSignal | undefined;
	/** Ends the execution's sending: after it, the request must not be sent any more. */
	stopSignal: AbortSignal | undefined;
	/** Whether a cancel cuts it off. It must not where only the answer says what has been done. */
	isCancellable: boolean;
	account: Account;
	/** The same object for all requests of its execution, where there is one. */
	execution: object | undefined;
	/** The credential as it is stored now: another process may have put a newer token there, a user another password. */
	storedCredentials: () => Promise<ICredentialDataDecryptedObject>;
}

/** By the credentials object: HttpClient makes one for each request, and n8n passes that very object on. */
const ownRequests = new WeakMap<object, OwnRequest>();

/** The request that a credentials object was made for; undefined where another node sends it. */
export function ownRequestOf(credentials: object): OwnRequest | undefined {
	return ownRequests.get(credentials);
}

/**
 * A request of this node's own, as far as the credential has to know it; n8n tells it nothing of that.
 *
 * Its time limit runs from the beginning, and anew after a log-in. The first is a safety net: where n8n's store of
 * credentials passes on a copy, the credential never finds this request.
 */
export class OwnRequest {
	/** Whether the credential has seen it, and nothing is sent yet. */
	isAuthenticating = false;
	/** Whether it took too long. n8n reports that as a cancel. */
	isTimedOut = false;
	private readonly controller = new AbortController();
	/** Ends its limit of time, while one runs. */
	private endLimit: (() => void) | undefined;
	/** Ends its wait for a log-in. */
	private endLogin: (() => void) | undefined;
	private readonly stopListening: () => void;

	/** @param credentials the object that n8n is given with the request */
	constructor(
		credentials: object,
		readonly options: OwnRequestOptions,
	) {
		ownRequests.set(credentials, this);
		this.stopListening = onAbort(options.isCancellable ? options.cancelSignal : undefined, () =>
			this.controller.abort(),
		);
		this.start();
	}

	/** What ends it: n8n is to pass it on in place of the execution's cancel. */
	get signal(): AbortSignal {
		return this.controller.signal;
	}

	/** Whether it must not be sent any more. */
	get isCancelled(): boolean {
		const { cancelSignal, stopSignal } = this.options;
		return cancelSignal?.aborted === true || stopSignal?.aborted === true;
	}

	/**
	 * A log-in comes first, and has as much time again.
	 *
	 * @returns why the request does not wait for it any longer, as soon as that is so
	 */
	async waitForLogin(): Promise<RequestFailure> {
		this.endLimit?.();
		this.endLimit = undefined;
		this.endLogin?.();
		const { timeout: after, cancelSignal, stopSignal } = this.options;
		return await new Promise((resolve) => {
			const endTime = onDeadline(after, () => resolve({ kind: 'timeout', after }));
			const cancelled = () => resolve({ kind: 'cancelled' });
			const stopListening = [onAbort(cancelSignal, cancelled), onAbort(stopSignal, cancelled)];
			this.endLogin = () => {
				endTime();
				for (const stop of stopListening) stop();
			};
		});
	}

	/** The credential has it: nothing is sent before it is authenticated. */
	authenticating(): void {
		this.isAuthenticating = true;
	}

	/** It is being sent. */
	authenticated(): void {
		this.isAuthenticating = false;
		this.start();
	}

	/** Its time counts from now on. */
	private start(): void {
		if (this.endLimit !== undefined) return;
		this.endLogin?.();
		this.options.onSent();
		// AbortSignal.any would do, but on Node.js 20 it forgets a time limit when garbage is collected.
		this.endLimit = onDeadline(this.options.timeout, () => {
			this.isTimedOut = true;
			this.controller.abort();
		});
	}

	/** It is answered, or has failed. */
	end(): void {
		this.endLimit?.();
		this.endLogin?.();
		this.stopListening();
	}
}

/**
 * The same context, but that n8n finds this signal there in place of the execution's cancel: it puts the one that it
 * finds into each request (n8n-core, httpRequestWithAuthentication).
 */
export function withCancelSignal<Context extends object>(
	context: Context,
	signal: AbortSignal | undefined,
): Context {
	return new Proxy(context, {
		get: (target, name) =>
			name === 'getExecutionCancelSignal' ? () => signal : (Reflect.get(target, name) as unknown),
	});
}
