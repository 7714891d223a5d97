import type { ICredentialDataDecryptedObject } from 'n8n-workflow';

import type { Failure } from '../errors/failure';
import { onAbort, timeoutSignal } from '../timers';

/** What the credential has to know of a request of this node. */
interface TrackedRequestOptions {
	/** The same object for all requests of an execution. */
	execution: object;
	/** Milliseconds from the login to the end of the answer. */
	timeout: number;
	/** Once it is aborted, nothing is sent. */
	stop?: AbortSignal | undefined;
	/** Aborts it even if it was sent: only for reads, since another answer says what was done. */
	cancel?: AbortSignal | undefined;
	/** How often its tokens were rejected. */
	rejections: number;
	/** Called when it is sent. */
	onSent: () => void;
	/** Reads the stored credential again. */
	readAgain: () => Promise<ICredentialDataDecryptedObject>;
}

/** A request of this node, with one deadline from its login to the end of its answer. */
export class TrackedRequest {
	/** Whether it has certainly not been sent. Not at first: if n8n copied the credentials, the credential wouldn't find it. */
	isUnsent = false;
	/** The token that it was sent with, or would have been if it hadn't been rejected in the meantime. */
	token: string | undefined;
	isTimedOut = false;
	private readonly controller = new AbortController();
	private readonly stopListening: Array<() => void>;

	constructor(readonly options: TrackedRequestOptions) {
		const { timeout, stop, cancel } = options;
		const abort = () => this.controller.abort();
		this.stopListening = [
			onAbort(cancel, abort),
			onAbort(stop, () => this.isUnsent && abort()),
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
		return this.signal.aborted || this.options.stop?.aborted === true;
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
}
