import { subscribe } from 'node:diagnostics_channel';
import type { ClientRequest, IncomingMessage } from 'node:http';

/** Counts the requests that this process sends after the object was created. */
export class Sent {
	readonly figures = {
		/** The maximum number of requests in flight. */
		atOnce: 0,
		/** The number of login requests that got a response. */
		logins: 0,
		/** The number of responses with status 429 or 503. */
		turnedAway: 0,
		/** The number of jobs created in the namespace `default`, and the milliseconds until the last of them. */
		created: 0,
		lastCreatedMs: 0,
		/** The number of these jobs for each second, beginning with the first. */
		createdBySecond: [] as number[],
	};
	private readonly startedAt = performance.now();
	private readonly open = new Set<ClientRequest>();

	constructor() {
		subscribe('http.client.request.start', (message) => {
			const { request } = message as { request: ClientRequest };
			this.open.add(request);
			this.figures.atOnce = Math.max(this.figures.atOnce, this.open.size);
			request.once('close', () => this.open.delete(request));
		});
		subscribe('http.client.response.finish', (message) => {
			const { request, response } = message as {
				request: ClientRequest;
				response: IncomingMessage;
			};
			response.once('end', () => this.open.delete(request));
			this.count(request.path, response.statusCode ?? 0);
		});
	}

	private count(path: string, status: number): void {
		const { figures } = this;
		if (path === '/oauth/login') figures.logins += 1;
		if (status === 429 || status === 503) figures.turnedAway += 1;
		if (status >= 300 || !path.endsWith('/namespaces/default/jobs')) return;
		figures.created += 1;
		figures.lastCreatedMs = performance.now() - this.startedAt;
		const second = Math.floor(figures.lastCreatedMs / 1_000);
		while (figures.createdBySecond.length <= second) figures.createdBySecond.push(0);
		figures.createdBySecond[second] = (figures.createdBySecond[second] ?? 0) + 1;
	}
}
