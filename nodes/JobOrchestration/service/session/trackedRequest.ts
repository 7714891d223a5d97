import type { Failure } from '../errors/failure';
import { onAbort, timeoutSignal } from '../request/timers';

/** What a request of this node waits for, with one deadline from its login to the end of its answer. */
export class TrackedRequest {
	/** At first, it counts as sent: a store that copies the credentials object keeps the credential from finding it. */
	waitsFor: 'n8n' | 'login' | 'answer' = 'answer';
	/** The login that it waits for. */
	login: unknown;
	isTimedOut = false;
	private readonly controller = new AbortController();
	private readonly stopListening: Array<() => void>;

	/**
	 * @param stop aborts it until it is sent
	 * @param cancel aborts it afterwards as well: only for reads, since another answer says what was done
	 */
	constructor(
		private readonly timeoutMs: number,
		private readonly stop: AbortSignal | undefined,
		cancel?: AbortSignal,
	) {
		this.stopListening = [
			onAbort(stop, () => this.isUnsent && this.controller.abort()),
			onAbort(cancel, () => this.controller.abort()),
			onAbort(timeoutSignal(timeoutMs), () => {
				this.isTimedOut = true;
				this.controller.abort();
			}),
		];
	}

	/** It isn't sent before the credential has added the token. */
	prepare(): void {
		this.waitsFor = 'n8n';
		if (this.stop?.aborted === true) this.controller.abort();
	}

	get signal(): AbortSignal {
		return this.controller.signal;
	}

	/** Whether it has certainly not been sent. */
	get isUnsent(): boolean {
		return this.waitsFor !== 'answer';
	}

	/** Why its signal was aborted; undefined if it wasn't. */
	get failure(): Failure | undefined {
		if (!this.signal.aborted) return undefined;
		if (!this.isTimedOut) return { kind: 'cancelled', sent: !this.isUnsent };
		const after = this.timeoutMs;
		if (this.waitsFor === 'login') return { kind: 'login', cause: { kind: 'timeout', after } };
		return this.waitsFor === 'n8n' ? { kind: 'n8nTimeout', after } : { kind: 'timeout' };
	}

	/** It was answered or has failed. */
	end(): void {
		for (const stop of this.stopListening) stop();
	}
}
