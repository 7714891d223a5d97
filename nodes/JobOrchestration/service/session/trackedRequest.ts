import type { ICredentialDataDecryptedObject } from 'n8n-workflow';

import type { Failure, RequestFailure } from '../request/failure';
import { onAbort, onDeadline } from '../request/timers';
import type { LoginResult } from './login';
import type { Session } from './session';

interface TrackedRequestOptions {
	session: Session;
	execution: object;
	/** From its login to the end of the answer. */
	timeoutMs: number;
	onSent: () => void;
	/** The execution's cancel. */
	cancelSignal: AbortSignal | undefined;
	/** Ends the execution's sending: the request must not be sent afterwards. */
	stopSignal: AbortSignal | undefined;
	/** Whether a cancel aborts it after it was sent. It must not if only the answer says what was done. */
	isCancellable: boolean;
	/** How often the tokens of the call were rejected. */
	rejections: number;
	/** The answer to the last try, if it must not log in for another one. */
	lastAnswer: RequestFailure | undefined;
	/** Reads the credential as it is stored now. */
	readCredentials: () => Promise<ICredentialDataDecryptedObject>;
}

const trackedRequests = new WeakMap<object, TrackedRequest>();

/** The node's own request that a credentials object was made for; undefined if another node sends it. */
export function trackedRequestOf(credentials: object): TrackedRequest | undefined {
	return trackedRequests.get(credentials);
}

/**
 * A request of this node, from its login to the end of its answer. n8n passes only the credentials object to the
 * credential, which finds here what else it has to know.
 */
export class TrackedRequest {
	/**
	 * `handedOver` counts as possibly sent: if n8n's store of credentials passes on a copy of the object, the credential
	 * never finds this request.
	 */
	private phase: 'handedOver' | 'unsent' | 'awaitsLogin' | 'sent' = 'handedOver';
	private login: Promise<LoginResult> | undefined;
	private isTimedOut = false;
	private readonly controller = new AbortController();
	private readonly stopListening: Array<() => void>;

	constructor(
		credentials: object,
		readonly options: TrackedRequestOptions,
	) {
		trackedRequests.set(credentials, this);
		const { timeoutMs, cancelSignal, stopSignal } = options;
		const abort = () => this.abortIfStopped();
		this.stopListening = [
			onAbort(cancelSignal, abort),
			onAbort(stopSignal, abort),
			onDeadline(timeoutMs, () => this.timeOut()),
		];
	}

	/** Ends it at its deadline and when it is cancelled. */
	get signal(): AbortSignal {
		return this.controller.signal;
	}

	/** Whether it has certainly not been sent. */
	get isUnsent(): boolean {
		return this.phase === 'unsent' || this.phase === 'awaitsLogin';
	}

	/** Why its signal was aborted. */
	get failure(): Failure {
		const { timeoutMs: after, lastAnswer } = this.options;
		if (!this.isTimedOut) return { kind: 'cancelled', sent: !this.isUnsent };
		if (!this.isUnsent) return { kind: 'timeout' };
		if (this.phase === 'unsent') return { kind: 'n8nTimeout', after };
		return lastAnswer ?? { kind: 'login', cause: { kind: 'timeout', after } };
	}

	/** The credential has it. */
	authenticating(): void {
		this.phase = 'unsent';
		this.abortIfStopped();
	}

	/** It waits for a login, of this process or of another one. */
	awaitsLogin(login?: Promise<LoginResult>): void {
		this.phase = 'awaitsLogin';
		this.login = login;
	}

	sent(): void {
		this.phase = 'sent';
		this.options.onSent();
	}

	/** It was answered or has failed. */
	end(): void {
		for (const stop of this.stopListening) stop();
	}

	private abortIfStopped(): void {
		const { cancelSignal, stopSignal, isCancellable } = this.options;
		const isCancelled = cancelSignal?.aborted === true;
		const mustNotBeSent = this.isUnsent && (isCancelled || stopSignal?.aborted === true);
		if (mustNotBeSent || (isCancellable && isCancelled)) this.controller.abort();
	}

	private timeOut(): void {
		this.isTimedOut = true;
		if (this.phase === 'awaitsLogin' && this.login !== undefined) {
			this.options.session.giveUp(this.login);
		}
		this.controller.abort();
	}
}
