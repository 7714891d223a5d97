import type { Server, Socket } from 'node:net';

/** Counts a server's connections, and can cut them all. */
export class Connections {
	private readonly sockets = new Set<Socket>();
	private highest = 0;
	private everMade = 0;

	constructor(server: Server) {
		server.on('connection', (socket) => {
			this.sockets.add(socket);
			this.everMade += 1;
			this.highest = Math.max(this.highest, this.sockets.size);
			socket.on('close', () => this.sockets.delete(socket));
		});
	}

	/** Open at this moment. */
	get open(): number {
		return this.sockets.size;
	}

	/** The most that were open at once. */
	get peak(): number {
		return this.highest;
	}

	/** How many were ever made. */
	get total(): number {
		return this.everMade;
	}

	/** Starts counting `peak` and `total` anew, from those that are open. */
	reset(): void {
		this.highest = this.sockets.size;
		this.everMade = this.sockets.size;
	}

	/** Cuts them all, whatever is under way on them. */
	destroyAll(): void {
		for (const socket of this.sockets) socket.destroy();
		this.sockets.clear();
	}
}
