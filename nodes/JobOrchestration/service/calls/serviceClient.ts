import type { HttpClient } from '../http';
import type { RequestOptions } from '../request';
import type { Call } from './callError';
import { sendWithRetries } from './sendWithRetries';

/** Sends the service's calls over one HTTP client and with the same options. */
export class ServiceClient {
	constructor(
		private readonly httpClient: HttpClient,
		private readonly options: RequestOptions,
	) {}

	/** A text of the service as errors, hints and logs may show it: without secrets. */
	redact(text: string): string {
		return this.httpClient.redact(text);
	}

	/**
	 * Sends a call, again where that is allowed, and returns the body of its answer; null if it is empty.
	 *
	 * @param mayGoOn whether something else is tried if it fails
	 * @throws ServiceError, whose `mayHaveActed` says whether a call that can't be repeated may have worked nevertheless
	 */
	async send<Body>(call: Call<Body>, { mayGoOn = false } = {}): Promise<Body> {
		const options = mayGoOn ? { ...this.options, onFailure: undefined } : this.options;
		return await sendWithRetries(this.httpClient, call, options);
	}
}
