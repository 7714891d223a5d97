import { inspect } from 'node:util';

/** Waits for a command. If it fails, prints the error, and sets the exit status to 1. */
export function runMain(main: Promise<void>): void {
	main.catch((error: unknown) => {
		process.stderr.write(`${inspect(error)}\n`);
		process.exitCode = 1;
	});
}
