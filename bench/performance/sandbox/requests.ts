import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { IncomingMessage } from 'node:http';

const STARTED = 'http.server.request.start';
const FINISHED = 'http.server.response.finish';

/** Counts the requests to one port of this process. */
export class Requests {
	total = 0;
	/** The most that were under way at once. */
	atOnce = 0;
	private underWay = 0;

	constructor(private readonly port: number) {
		subscribe(STARTED, this.onStarted);
		subscribe(FINISHED, this.onFinished);
	}

	stop(): void {
		unsubscribe(STARTED, this.onStarted);
		unsubscribe(FINISHED, this.onFinished);
	}

	private readonly onStarted = (message: unknown) => {
		if (!this.isHere(message)) return;
		this.total += 1;
		this.underWay += 1;
		this.atOnce = Math.max(this.atOnce, this.underWay);
	};

	private readonly onFinished = (message: unknown) => {
		if (this.isHere(message)) this.underWay -= 1;
	};

	/** Node gives the request of each event along. */
	private isHere(message: unknown): boolean {
		const { request } = message as { request: IncomingMessage };
		return request.socket.localPort === this.port;
	}
}
