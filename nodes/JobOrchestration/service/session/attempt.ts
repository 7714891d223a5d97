import type { ICredentialDataDecryptedObject } from 'n8n-workflow';

import type { Failure } from '../errors/kinds';
import { onAbort, timeoutSignal } from '../timers';

export interface AttemptOptions {
	/** The run, and in it the execution, whose requests know of its failed login: the same objects for all of them. */
	run: { readonly execution: object };
	/** Milliseconds from the login to the end of the answer. */
	timeout: number;
	/** Milliseconds for a login before it, if that is less than the timeout. */
	loginTimeoutMs: number;
	/** From when it is sent to the end of the answer, if that is less than the timeout. */
	answerTimeoutMs: number;
	/** Once it is aborted, nothing is sent. */
	signal?: AbortSignal | undefined;
	/** Aborts it even if it was sent: only for reads, since another answer says what was done. */
	cancel?: AbortSignal | undefined;
	/** Reads the stored credential again. */
	readAgain: () => Promise<ICredentialDataDecryptedObject>;
}

/** One attempt to send a request of this node, as the credential has to know it, with a deadline. */
export class Attempt {
	/** The token that it was sent with. */
	token: string | undefined;
	/**
	 * n8n has the credential sign the request, and get a token first if no token is stored. In the state 'with n8n', the
	 * request may have been sent already: if n8n copied the credentials object, the credential couldn't find the attempt.
	 */
	private state: 'with n8n' | 'waiting for a token' | 'sent' = 'with n8n';
	private readonly controller = new AbortController();
	readonly signal = this.controller.signal;
	private isLate = false;
	private readonly stopListening: Array<() => void>;

	constructor(readonly options: AttemptOptions) {
		const { timeout, loginTimeoutMs, signal, cancel } = options;
		const abort = () => this.controller.abort();
		this.stopListening = [onAbort(cancel, abort), onAbort(signal, () => this.isUnsent && abort())];
		this.endAfter(timeout);
		if (loginTimeoutMs < timeout) this.endAfter(loginTimeoutMs, () => this.isUnsent);
	}

	/** Whether it has certainly not been sent. */
	get isUnsent(): boolean {
		return this.state === 'waiting for a token';
	}

	/** Why it was stopped; undefined if it wasn't. */
	get failure(): Failure | undefined {
		if (!this.signal.aborted) return undefined;
		if (!this.isLate) return { kind: 'cancelled', sent: !this.isUnsent };
		const { timeout: after } = this.options;
		return this.isUnsent ? { kind: 'timeout', after, ofLogin: true } : { kind: 'timeout' };
	}

	waitForToken(): void {
		this.state = 'waiting for a token';
		if (this.options.signal?.aborted === true) this.controller.abort();
	}

	/** n8n sends it next. */
	leaveWith(token: string): void {
		this.state = 'sent';
		this.token = token;
		const { timeout, answerTimeoutMs } = this.options;
		if (answerTimeoutMs < timeout) this.endAfter(answerTimeoutMs);
	}

	/** It was answered or has failed. */
	end(): void {
		for (const stop of this.stopListening) stop();
	}

	private endAfter(delayMs: number, isLimited = () => true): void {
		const end = () => {
			if (!isLimited()) return;
			this.isLate = true;
			this.controller.abort();
		};
		this.stopListening.push(onAbort(timeoutSignal(delayMs), end));
	}
}
