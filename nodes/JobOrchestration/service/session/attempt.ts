import type { ICredentialDataDecryptedObject } from 'n8n-workflow';

import { cancelled, type Failure, timedOut } from '../errors/failure';
import { loginTimedOut } from './login';
import { onAbort, timeoutSignal } from '../timers';

export interface AttemptOptions {
	/**
	 * The run that the request belongs to, and its execution. All their requests share these objects, by which a failed
	 * login is remembered.
	 */
	run: { readonly execution: object };
	/** Time limit in milliseconds for the attempt, from the start of the login to the end of the response. */
	timeout: number;
	/** Time limit in milliseconds for a login before the request, if less than `timeout`. */
	loginTimeoutMs: number;
	/** Time limit in milliseconds from sending the request to the end of the response, if less than `timeout`. */
	answerTimeoutMs: number;
	/** The request, as errors name it. */
	address: string;
	/** Signal that keeps the request from being sent once it is aborted. */
	signal?: AbortSignal | undefined;
	/**
	 * Signal that aborts the request even after it was sent. Only reads have one, since the response to any other request
	 * says what was done.
	 */
	cancel?: AbortSignal | undefined;
	/** Reads the stored credential again. */
	readAgain: () => Promise<ICredentialDataDecryptedObject>;
}

/** One attempt to send a request of this node, with a deadline and the state that the credential needs for signing. */
export class Attempt {
	/** The token that the request is sent with. */
	token: string | undefined;
	/**
	 * Progress of the attempt. n8n calls the credential to sign the request, and before that to get a token if none is
	 * stored. In the state 'with n8n', the request may already have been sent: the credential can't find the attempt if
	 * n8n has copied the credentials object.
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

	/** Whether the request has certainly not been sent. */
	get isUnsent(): boolean {
		return this.state === 'waiting for a token';
	}

	/** The reason why the attempt was aborted; undefined if it was not aborted. */
	get failure(): Failure | undefined {
		if (!this.signal.aborted) return undefined;
		if (!this.isLate) return cancelled({ sent: !this.isUnsent });
		const { timeout, answerTimeoutMs } = this.options;
		if (this.isUnsent) return loginTimedOut(timeout);
		return timedOut(Math.min(timeout, answerTimeoutMs), this.options.address);
	}

	waitForToken(): void {
		this.state = 'waiting for a token';
		if (this.options.signal?.aborted === true) this.controller.abort();
	}

	/** Records that n8n sends the request next, with this token. */
	leaveWith(token: string): void {
		this.state = 'sent';
		this.token = token;
		const { timeout, answerTimeoutMs } = this.options;
		if (answerTimeoutMs < timeout) this.endAfter(answerTimeoutMs);
	}

	/** Removes the listeners after the request was answered or has failed. */
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
