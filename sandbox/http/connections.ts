import { once } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Counts the connections of a server, and can close all of them. */
export class Connections {
	/** The maximum number of connections that were open at the same time. */
	peak = 0;
	private open = 0;

	constructor(private readonly server: Server) {
		server.on('connection', (socket) => {
			this.open += 1;
			this.peak = Math.max(this.peak, this.open);
			socket.once('close', () => (this.open -= 1));
		});
	}

	/**
	 * Refuses new connections, and closes all open connections, even while a response is being sent.
	 * @returns a function that makes the server listen on the same port again
	 */
	async shut(): Promise<() => Promise<void>> {
		const { address: host, port } = this.server.address() as AddressInfo;
		const closed = once(this.server, 'close');
		this.server.close();
		this.server.closeAllConnections();
		await closed;
		return async () => {
			this.server.listen({ host, port });
			await once(this.server, 'listening');
		};
	}
}
