import { Worker } from 'node:worker_threads';

/*
 * A loop that goes round in microtasks alone keeps the event loop from turning: no timer fires, not even that of a
 * test's time limit. So another thread watches, and ends the process: nothing less stops such a loop.
 */

/** How long the event loop may stand still. With less, a busy machine would end the tests. */
const STILL_MS = 5_000;
/** How long what is tried may take: the waits of the node are skipped, so it takes a second or two. */
const ENDLESS_MS = 60_000;
const BEAT_MS = 100;

/** The other thread. It counts its own beats, so that a machine that stands still as a whole is no failure. */
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
 * Ends the process, and says why, if the event loop doesn't turn for five seconds in a test of this file, or what is tried
 * isn't over after a minute.
 *
 * @returns a function that says what is tried: each test, unless told otherwise
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
