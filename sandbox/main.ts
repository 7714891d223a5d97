import { help, readCommandLine } from './commandLine';
import { startSandbox } from './start';

/** Starts a sandbox and prints its address. SIGINT and SIGTERM stop the sandbox. */
async function main(): Promise<void> {
	const options = readCommandLine(process.argv.slice(2));
	if (options === undefined) {
		process.stdout.write(help);
		return;
	}
	const sandbox = await startSandbox(options);
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

main().catch((error: unknown) => {
	const reason = error instanceof Error ? error.message : String(error);
	const isTaken = reason.includes('EADDRINUSE');
	const advice = isTaken ? ' Another program uses this port: choose another one with --port.' : '';
	process.stderr.write(`The sandbox did not start. ${reason}.${advice}\n`);
	process.exitCode = 1;
});
