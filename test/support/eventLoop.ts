import { Worker } from 'node:worker_threads';

/*
 * A loop of microtasks blocks the event loop: no timer fires, not even the one of a test's time limit. Therefore,
 * another thread watches the event loop and kills the process, since nothing less stops such a loop.
 */

/** How long the event loop may be blocked. A shorter limit would end the tests on a busy machine. */
const STILL_MS = 5_000;
const BEAT_MS = 100;

/**
 * The code of the watching thread. It measures time by its own timer, so that it doesn't report a failure if the whole
 * machine stands still.
 */
const WATCH = `
const { writeSync } = require('node:fs');
let what = '';
let stillMs = 0;
require('node:worker_threads').parentPort.on('message', (message) => ([what, stillMs] = [message, 0]));
setInterval(() => {
	stillMs += ${BEAT_MS};
	if (stillMs <= ${STILL_MS}) return;
	writeSync(2, 'The event loop stood still for ${STILL_MS} ms:\\n' + what + '\\n');
	process.kill(process.pid, 'SIGKILL');
}, ${BEAT_MS});
`;

/**
 * Kills the process and prints the reason if the event loop is blocked for five seconds in a test of the calling file.
 *
 * @returns a function that sets the description of what is tried. The start of each test calls it with the name of the
 * test.
 */
export function watchEventLoop(): (what: string) => void {
	let watch: Worker;
	let beat: NodeJS.Timeout;
	let tried = '';
	const trying = (what = tried) => watch.postMessage((tried = what));
	beforeAll(() => {
		watch = new Worker(WATCH, { eval: true });
		beat = setInterval(trying, BEAT_MS);
	});
	beforeEach(() => trying(expect.getState().currentTestName));
	afterAll(async () => {
		clearInterval(beat);
		await watch.terminate();
	});
	return trying;
}
