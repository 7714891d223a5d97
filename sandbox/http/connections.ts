import { once } from 'node:events';
import type { AddressInfo, Server, Socket } from 'node:net';

/** Counts the connections of a server, and can close them all. */
export class Connections {
	/** The most that were open at once. */
	peak = 0;

	private readonly sockets = new Set<Socket>();

	constructor(private readonly server: Server) {
		server.on('connection', (socket) => {
			this.sockets.add(socket);
			this.peak = Math.max(this.peak, this.sockets.size);
			socket.on('close', () => this.sockets.delete(socket));
		});
	}

	get open(): number {
		return this.sockets.size;
	}

	/** Counts `peak` again, from those that are open. */
	reset(): void {
		this.peak = this.sockets.size;
	}

	/** Closes them all, in the middle of an answer as well. */
	destroyAll(): void {
		for (const socket of this.sockets) socket.destroy();
		this.sockets.clear();
	}

	/**
	 * Refuses new connections, and closes those that are open.
	 * @returns what makes the server listen again, on the same port
	 */
	async shut(): Promise<() => Promise<void>> {
		const { address: host, port } = this.server.address() as AddressInfo;
		const closed = once(this.server, 'close');
		this.server.close();
		this.destroyAll();
		await closed;
		return async () => {
			this.server.listen({ host, port });
			await once(this.server, 'listening');
		};
	}
}
