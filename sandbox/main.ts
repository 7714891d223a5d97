import { help, readCommandLine, usualPort } from './commandLine';
import type { SandboxOptions } from './options';
import { startSandbox, type Sandbox } from './start';

/** How many ports are tried if the command line names none. */
const portsTried = 20;

/** Starts a sandbox and prints its address. SIGINT and SIGTERM stop the sandbox. */
async function main(): Promise<void> {
	const options = readCommandLine(process.argv.slice(2));
	if (options === undefined) {
		process.stdout.write(help);
		return;
	}
	const sandbox = await startOnFreePort(options);
	process.stdout.write(
		[
			'The sandbox is running. Ctrl-C stops it, and its jobs with it: an execution that waits for one is not called.',
			'',
			`  Address    ${sandbox.url}    (open it in a browser to see jobs and clusters)`,
			`  User       ${sandbox.userName}`,
			`  Password   ${sandbox.password}`,
			'',
		].join('\n'),
	);
	for (const signal of ['SIGINT', 'SIGTERM'] as const) {
		process.once(signal, () => void sandbox.close());
	}
}

/**
 * Starts a sandbox on the port that the command line names, or else on the first free port from `usualPort` on.
 * @throws Error if the named port or each of the tried ports is taken
 */
async function startOnFreePort(options: SandboxOptions): Promise<Sandbox> {
	const last = options.port ?? usualPort + portsTried - 1;
	for (let port = options.port ?? usualPort; ; port += 1) {
		try {
			return await startSandbox({ ...options, port });
		} catch (error) {
			if (!isTaken(error)) throw error;
			if (port === last) throw new Error(`Port ${port} is taken. Choose another one with --port`);
		}
	}
}

function isTaken(error: unknown): boolean {
	return error instanceof Error && 'code' in error && error.code === 'EADDRINUSE';
}

main().catch((error: unknown) => {
	const reason = error instanceof Error ? error.message : String(error);
	process.stderr.write(`The sandbox did not start. ${reason}\n`);
	process.exitCode = 1;
});
