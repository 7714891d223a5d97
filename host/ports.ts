import { randomInt } from 'node:crypto';
import { createServer, type AddressInfo } from 'node:net';

/** Servers on this address can only be reached from this machine. */
export const loopback = '127.0.0.1';

/**
 * Returns a port on loopback that is free now. By default, the port isn't one of the ephemeral ports that the system
 * assigns (from 32768 on Linux, from 49152 on other systems), so no program gets it by chance before it is used.
 *
 * The library get-port isn't used, because it doesn't return the same port again within 15 seconds. A restarted n8n
 * must have the address that its jobs call.
 * @param preferred the port to return if it is free; 0 for a port that the system assigns
 */
export async function freePort(preferred = randomInt(20_000, 32_000)): Promise<number> {
	return (await tryPort(preferred)) ?? (await freePort());
}

/** Returns the port if it is free, or a free port that the system assigns if it is 0; undefined if it isn't free. */
async function tryPort(port: number): Promise<number | undefined> {
	return await new Promise((resolve, reject) => {
		const server = createServer();
		server.once('error', (error: NodeJS.ErrnoException) => {
			if (error.code === 'EADDRINUSE' || error.code === 'EACCES') resolve(undefined);
			else reject(error);
		});
		server.listen({ port, host: loopback, exclusive: true }, () => {
			const { port: taken } = server.address() as AddressInfo;
			server.close(() => resolve(taken));
		});
	});
}
