import { randomInt } from 'node:crypto';
import { createServer, type AddressInfo } from 'node:net';

/** Only this machine can reach what listens here. */
export const loopback = '127.0.0.1';

/**
 * A port on loopback that nothing listens on at this moment. It isn't one of those that the system hands out
 * (from 32768 on Linux, from 49152 elsewhere), so no program gets it by chance while it isn't in use.
 * The library get-port doesn't serve here: it hands out no port a second time within 15 seconds, and an n8n that is restarted
 * needs the address that its jobs know.
 * @param preferred is taken if it is free
 */
export async function freePort(preferred = randomInt(20_000, 32_000)): Promise<number> {
	return (await tryPort(preferred)) ?? (await freePort());
}

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
