import type { ICredentialDataDecryptedObject } from 'n8n-workflow';

import type { Failure } from '../errors/failure';
import { onAbort, timeoutSignal } from '../timers';

/** A request of this node, as the credential has to know it. Each time it is sent, it has a deadline. */
export class TrackedRequest {
	/** How often its tokens were rejected. */
	rejections = 0;
	/** Whether it has certainly not been sent. Not at first: if n8n copied the credentials, the credential wouldn't find it. */
	isUnsent = false;
	/** The token that it was sent with, or would have been if it hadn't been rejected in the meantime. */
	token: string | undefined;
	/** Whether that token came by a login that was made for it, as an earlier one was rejected. */
	hasNewToken = false;
	isTimedOut = false;
	private controller = new AbortController();
	private stopListening: Array<() => void> = [];

	constructor(
		readonly options: {
			/** The same object for all requests of an execution. */
			execution: object;
			/** Milliseconds from the login to the end of the answer. */
			timeout: number;
			/** Once it is aborted, nothing is sent. */
			signal?: AbortSignal | undefined;
			/** Aborts it even if it was sent: only for reads, since another answer says what was done. */
			cancel?: AbortSignal | undefined;
			/** Called when it is sent. */
			onSent: () => void;
			/** Reads the stored credential again. */
			readAgain: () => Promise<ICredentialDataDecryptedObject>;
		},
	) {
		this.begin();
	}

	/** From now on, its time counts. */
	private begin(): void {
		const { timeout, signal, cancel } = this.options;
		this.isTimedOut = false;
		this.controller = new AbortController();
		const abort = () => this.controller.abort();
		this.stopListening = [
			onAbort(cancel, abort),
			onAbort(signal, () => this.isUnsent && abort()),
			onAbort(timeoutSignal(timeout), () => {
				this.isTimedOut = true;
				abort();
			}),
		];
	}

	get signal(): AbortSignal {
		return this.controller.signal;
	}

	get isStopped(): boolean {
		return this.signal.aborted || this.options.signal?.aborted === true;
	}

	/** Why its signal was aborted; undefined if it wasn't. */
	get failure(): Failure | undefined {
		if (!this.signal.aborted) return undefined;
		if (!this.isTimedOut) return { kind: 'cancelled', sent: !this.isUnsent };
		if (!this.isUnsent) return { kind: 'timeout' };
		return { kind: 'timeout', after: this.options.timeout, ofLogin: true };
	}

	/** It is about to be sent. */
	send(token: string): void {
		this.isUnsent = false;
		this.token = token;
		this.options.onSent();
	}

	/** It was answered or has failed. */
	end(): void {
		for (const stop of this.stopListening) stop();
	}

	/** It is to be sent again, with another token than the one that was rejected. */
	beginAgain(): void {
		this.rejections += 1;
		this.isUnsent = true;
		this.token = undefined;
		this.begin();
	}
}
