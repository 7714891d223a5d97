import { Worker } from 'node:worker_threads';

/*
 * A loop of microtasks blocks the event loop: no timer fires, not even the one of a test's time limit. Therefore,
 * another thread watches the event loop and kills the process, since nothing less stops such a loop.
 */

/** How long the event loop may be blocked. A shorter limit would end the tests on a busy machine. */
const STILL_MS = 5_000;
/** How long one attempt may take. Usually, it takes a second or two, because the waits of the node are skipped. */
const ENDLESS_MS = 60_000;
const BEAT_MS = 100;

/**
 * The code of the watching thread. It measures time by its own timer, so that it doesn't report a failure if the whole
 * machine stands still.
 */
const WATCH = `
const { writeSync } = require('node:fs');
const { parentPort, workerData: turns } = require('node:worker_threads');
let what = '';
let triedMs = 0;
parentPort.on('message', (message) => ([what, triedMs] = [message, 0]));
let seen = -1;
let seenMs = 0;
const end = (why) => {
	writeSync(2, why + '\\n' + what + '\\n');
	process.kill(process.pid, 'SIGKILL');
};
setInterval(() => {
	triedMs += ${BEAT_MS};
	const counted = Atomics.load(turns, 0);
	seenMs = counted === seen ? seenMs + ${BEAT_MS} : 0;
	seen = counted;
	if (seenMs > ${STILL_MS}) end('The event loop stood still for ${STILL_MS} ms:');
	if (triedMs > ${ENDLESS_MS}) end('It is not over after ${ENDLESS_MS} ms:');
}, ${BEAT_MS});
`;

/**
 * Kills the process and prints the reason if the event loop is blocked for five seconds in a test of the calling file,
 * or if an attempt takes longer than a minute.
 *
 * @returns a function that starts the next attempt and sets its description. The start of each test calls it with the
 * name of the test.
 */
export function watchEventLoop(): (what: string) => void {
	const turns = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
	let watch: Worker;
	let beat: NodeJS.Timeout;
	const trying = (what = '') => watch.postMessage(what);
	beforeAll(() => {
		watch = new Worker(WATCH, { eval: true, workerData: turns });
		beat = setInterval(() => Atomics.add(turns, 0, 1), BEAT_MS);
	});
	beforeEach(() => trying(expect.getState().currentTestName));
	afterAll(async () => {
		clearInterval(beat);
		await watch.terminate();
	});
	return trying;
}
