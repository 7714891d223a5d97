import type { ICredentialDataDecryptedObject } from 'n8n-workflow';

import type { Account } from './account';
import type { Failure, RequestFailure } from '../errors/failure';
import { onAbort, onDeadline } from '../request/timers';

/** What holds for a request of this node's own. */
interface OwnRequestOptions {
	/** Milliseconds that it may take each time that it is sent: from its login to the end of the answer. */
	timeout: number;
	/** Called each time that it is sent. */
	onSent: () => void;
	/** The execution's cancel. */
	cancelSignal: AbortSignal | undefined;
	/** Ends the execution's sending: after it, the request must not be sent any more. */
	stopSignal: AbortSignal | undefined;
	/** Whether a cancel cuts it off after it was sent. It must not where only the answer says what has been done. */
	isCancellable: boolean;
	account: Account;
	/** The same object for all requests of its execution, where there is one. */
	execution: object | undefined;
	/** The credential as it is stored now: another process may have put a newer token there, a user another password. */
	storedCredentials: () => Promise<ICredentialDataDecryptedObject>;
}

/** By the credentials object: HttpClient makes one each time that it sends a request, and n8n passes that object on. */
const ownRequests = new WeakMap<object, OwnRequest>();

/** The request that a credentials object was made for; undefined where another node sends it. */
export function ownRequestOf(credentials: object): OwnRequest | undefined {
	return ownRequests.get(credentials);
}

/** A request of this node's own, as far as the credential has to know it; n8n tells it nothing of that. */
export class OwnRequest {
	/**
	 * Progress. `given` must count as possibly sent: if n8n's store of credentials passes on a copy, the credential
	 * never finds this request.
	 */
	private phase: 'given' | 'authenticating' | 'loggingIn' | 'sent' = 'given';
	isTimedOut = false;
	private endDeadline: () => void = () => {};
	private readonly controller = new AbortController();
	private readonly stopListening: Array<() => void>;

	constructor(readonly options: OwnRequestOptions) {
		const { cancelSignal, stopSignal } = options;
		const cancelled = () => {
			const isCutOff = options.isCancellable && cancelSignal?.aborted === true;
			if (isCutOff || this.isUnsent) this.controller.abort();
		};
		this.stopListening = [onAbort(cancelSignal, cancelled), onAbort(stopSignal, cancelled)];
	}

	/** What ends it: n8n is to pass it on in place of the execution's cancel. */
	get signal(): AbortSignal {
		return this.controller.signal;
	}

	/** Whether it must not be sent any more. */
	get isOver(): boolean {
		const { cancelSignal, stopSignal } = this.options;
		return [this.signal, cancelSignal, stopSignal].some((signal) => signal?.aborted);
	}

	/** Whether it has certainly not been sent, this time. */
	get isUnsent(): boolean {
		return this.phase === 'authenticating' || this.phase === 'loggingIn';
	}

	/** Why it has ended, once its signal is aborted: what was waited for decides what there is to say. */
	get failure(): Failure {
		if (!this.isTimedOut) return { kind: 'cancelled', sent: !this.isUnsent };
		const after = this.options.timeout;
		if (this.phase === 'loggingIn') return { kind: 'login', cause: { kind: 'timeout', after } };
		return this.isUnsent ? { kind: 'n8nTimeout', after } : { kind: 'timeout' };
	}

	/** Hands the request to n8n, with these credentials. One deadline covers all until it is answered. */
	given(credentials: object): void {
		ownRequests.set(credentials, this);
		this.phase = 'given';
		this.endDeadline();
		this.endDeadline = onDeadline(this.options.timeout, () => {
			this.isTimedOut = true;
			this.controller.abort();
		});
	}

	/** The credential has it, or the service has rejected its token: nothing is sent before it is authenticated. */
	authenticating(): void {
		this.phase = 'authenticating';
		if (this.isOver) this.controller.abort();
	}

	/**
	 * It waits for a login.
	 *
	 * @returns why it does not wait any longer, as soon as that is so
	 */
	async loginGivenUp(): Promise<RequestFailure> {
		this.phase = 'loggingIn';
		return await new Promise((resolve) => {
			const givenUp = () => {
				const { failure } = this;
				resolve(failure.kind === 'login' ? failure.cause : { kind: 'cancelled', sent: false });
			};
			this.stopListening.push(onAbort(this.signal, givenUp));
		});
	}

	/** It is being sent. */
	authenticated(): void {
		this.phase = 'sent';
		this.options.onSent();
	}

	/** It is answered, or has failed. */
	end(): void {
		this.endDeadline();
		for (const stop of this.stopListening) stop();
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
