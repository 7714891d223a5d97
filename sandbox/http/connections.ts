import { once } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Counts the connections of a server, and can close them all. */
export class Connections {
	open = 0;
	/** The most that were open at once. */
	peak = 0;

	constructor(private readonly server: Server) {
		server.on('connection', (socket) => {
			this.open += 1;
			this.peak = Math.max(this.peak, this.open);
			socket.once('close', () => (this.open -= 1));
		});
	}

	/** Counts `peak` again, from those that are open. */
	reset(): void {
		this.peak = this.open;
	}

	/**
	 * Refuses new connections, and closes those that are open, in the middle of an answer as well.
	 * @returns what makes the server listen again, on the same port
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
