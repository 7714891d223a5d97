import { subscribe } from 'node:diagnostics_channel';
import type { ClientRequest, IncomingMessage } from 'node:http';

/** What Node says of the requests that this process sends from now on, whatever stands between it and the service. */
export class Sent {
	/** The most that were under way at once. */
	atOnce = 0;
	/** Answers of 429 and 503. */
	turnedAway = 0;
	/** Jobs made in the default namespace, and the milliseconds until the last of them. */
	made = 0;
	lastMade = 0;
	private readonly startedAt = performance.now();
	private readonly underWay = new Set<ClientRequest>();

	constructor() {
		subscribe('http.client.request.start', (message) => {
			const { request } = message as { request: ClientRequest };
			this.underWay.add(request);
			this.atOnce = Math.max(this.atOnce, this.underWay.size);
			request.once('close', () => this.underWay.delete(request));
		});
		subscribe('http.client.response.finish', (message) => {
			const { request, response } = message as {
				request: ClientRequest;
				response: IncomingMessage;
			};
			response.once('end', () => this.underWay.delete(request));
			const { statusCode = 0 } = response;
			if (statusCode === 429 || statusCode === 503) this.turnedAway += 1;
			if (statusCode >= 300 || !request.path.endsWith('/namespaces/default/jobs')) return;
			this.made += 1;
			this.lastMade = performance.now() - this.startedAt;
		});
	}
}
