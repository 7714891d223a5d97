import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';

import { freePort, loopback } from '../../host/ports';

/** A way to a port of loopback that can be closed. */
export interface Forwarder {
	port: number;
	/** Cuts whatever goes through it, and lets nothing through from now on. */
	shut(): Promise<void>;
	/** Lets connections through again, on the same port. */
	open(): Promise<void>;
}

/** Opens a way to a port of loopback. */
export async function startForwarder(to: number): Promise<Forwarder> {
	const sockets = new Set<Socket>();
	const server = createServer((incoming) => {
		const outgoing = connect(to, loopback);
		for (const socket of [incoming, outgoing]) {
			sockets.add(socket);
			socket.on('close', () => {
				sockets.delete(socket);
				incoming.destroy();
				outgoing.destroy();
			});
			socket.on('error', () => socket.destroy());
		}
		incoming.pipe(outgoing).pipe(incoming);
	});
	const port = await freePort();
	const listen = async () => {
		server.listen(port, loopback);
		await once(server, 'listening');
	};
	await listen();
	return {
		port,
		shut: async () => {
			if (!server.listening) return;
			server.close();
			for (const socket of sockets) socket.destroy();
			await once(server, 'close');
		},
		open: listen,
	};
}
