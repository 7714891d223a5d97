import type { ICredentialDataDecryptedObject } from 'n8n-workflow';

import type { Failure } from '../errors/failure';
import { onAbort, timeoutSignal } from '../timers';

export interface SendingOptions {
	/** Where it waits in the limiter: the same object for all requests of one run of a node, and in it, of an execution. */
	run: { readonly execution: object };
	/** Milliseconds from the login to the end of the answer. */
	timeout: number;
	/** From when it is sent to the end of the answer, if that is less than the timeout. */
	answerTimeoutMs: number;
	/** Once it is aborted, nothing is sent. */
	signal?: AbortSignal | undefined;
	/** Aborts it even if it was sent: only for reads, since another answer says what was done. */
	cancel?: AbortSignal | undefined;
	/** Reads the stored credential again. */
	readAgain: () => Promise<ICredentialDataDecryptedObject>;
}

/** One sending of a request of this node, as the credential has to know it, with a deadline. */
export class Sending {
	/** The token that it was sent with, or would have been if it hadn't been rejected in the meantime. */
	token: string | undefined;
	/** Whether it has certainly not been sent. Not at first: if n8n copied the credentials, the credential wouldn't find it. */
	isUnsent = false;
	private readonly controller = new AbortController();
	readonly signal = this.controller.signal;
	private readonly deadlines: AbortSignal[] = [];
	private readonly stopListening: Array<() => void>;

	constructor(readonly options: SendingOptions) {
		const { timeout, signal, cancel } = options;
		const abort = () => this.controller.abort();
		this.stopListening = [onAbort(cancel, abort), onAbort(signal, () => this.isUnsent && abort())];
		this.endAfter(timeout);
	}

	private endAfter(delayMs: number): void {
		const deadline = timeoutSignal(delayMs);
		this.deadlines.push(deadline);
		this.stopListening.push(onAbort(deadline, () => this.controller.abort()));
	}

	/** Why it was stopped; undefined if it wasn't. */
	get failure(): Failure | undefined {
		if (!this.signal.aborted) return undefined;
		const isLate = this.deadlines.some(({ aborted }) => aborted);
		if (!isLate) return { kind: 'cancelled', sent: !this.isUnsent };
		const { timeout: after } = this.options;
		return this.isUnsent ? { kind: 'timeout', after, ofLogin: true } : { kind: 'timeout' };
	}

	/** It waits for a token. */
	hold(): void {
		this.isUnsent = true;
		if (this.options.signal?.aborted === true) this.controller.abort();
	}

	/** It is about to be sent. */
	send(token: string): void {
		this.isUnsent = false;
		this.token = token;
		const { timeout, answerTimeoutMs } = this.options;
		if (answerTimeoutMs < timeout) this.endAfter(answerTimeoutMs);
	}

	/** It was answered or has failed. */
	end(): void {
		for (const stop of this.stopListening) stop();
	}
}
