import { inspect } from 'node:util';

/** Runs a command, and shows what it ends with. */
export function runMain(main: Promise<void>): void {
	main.catch((error: unknown) => {
		process.stderr.write(`${inspect(error)}\n`);
		process.exitCode = 1;
	});
}
