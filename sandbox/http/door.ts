import { once } from 'node:events';
import type { Server } from 'node:net';

import type { Connections } from './connections';

/** Lets nobody in for a while, on the port that a server has. */
export class Door {
	private readonly address: { host: string; port: number };

	/** @param server one that is listening */
	constructor(
		private readonly server: Server,
		private readonly connections: Connections,
	) {
		const address = server.address();
		if (address === null || typeof address === 'string') throw new Error('It listens on no port');
		this.address = { host: address.address, port: address.port };
	}

	/** From now on connections are refused, and those that are open are cut. */
	async shut(): Promise<void> {
		const closed = once(this.server, 'close');
		this.server.close();
		this.connections.destroyAll();
		await closed;
	}

	/** @throws Error with the code EADDRINUSE where another has taken the port meanwhile */
	async open(): Promise<void> {
		this.server.listen(this.address);
		await once(this.server, 'listening');
	}
}
