import type { ChildProcess } from 'node:child_process';
import { fork } from 'node:child_process';
import { join } from 'node:path';

import type { ICredentialDataDecryptedObject } from 'n8n-workflow';

import { startSandbox } from '../../sandbox';
import { credentialFor } from '../support/fixture';
import { until } from '../sandbox/client';
import type { ToParent, ToWorker } from './worker';

/*
 * A service where a log-in ends the token of the one before, and processes that share a credential, as n8n's workers
 * do: they must not log each other out for ever.
 */

/** Seconds. */
const TOKEN_LIFETIME = 3;
const LIVES = 2;

/** Milliseconds that an answer takes: without them, the processes would do nothing but make jobs. */
const LATENCY = 20;

/** Milliseconds that reading and writing a credential takes: more than n8n's database does. */
const STORE_TAKES = 10;

/** A credential as n8n's database has it. */
class Stored {
	private data: ICredentialDataDecryptedObject;

	constructor(data: ICredentialDataDecryptedObject) {
		this.data = { ignoreSslIssues: false, accessToken: '', ...data };
	}

	async serve(worker: ChildProcess, message: ToParent): Promise<void> {
		if (message.kind !== 'read' && message.kind !== 'write') return;
		await new Promise((resolve) => setTimeout(resolve, STORE_TAKES));
		if (message.kind === 'write') this.data = message.data;
		const answer: ToWorker = { kind: 'answer', id: message.id, data: this.data };
		if (worker.connected) worker.send(answer);
	}
}

/** Starts a process that runs executions with a shared credential. */
function startWorker(stored: Stored) {
	const worker = fork(join(__dirname, 'worker.ts'), [], { execArgv: ['--import', 'tsx'] });
	worker.on('message', (message: ToParent) => void stored.serve(worker, message));
	const said = async <K extends ToParent['kind']>(kind: K) =>
		await new Promise<Extract<ToParent, { kind: K }>>((resolve, reject) => {
			worker.on('message', (message: ToParent) => {
				if (message.kind === kind) resolve(message as Extract<ToParent, { kind: K }>);
			});
			worker.once('exit', () => reject(new Error('The worker has ended')));
		});
	const [ready, done] = [said('ready'), said('done')];
	done.catch(() => {});
	const tell = (message: ToWorker) => worker.send(message);
	tell({ kind: 'begin', itemsEach: 50 });
	return { ready, done, tell, kill: () => worker.kill('SIGKILL') };
}

test('two processes make jobs while tokens expire: none fails, and they soon settle on one token', async () => {
	const sandbox = await startSandbox({
		oneSession: true,
		tokenLifetime: TOKEN_LIFETIME,
		latency: LATENCY,
	});
	const stored = new Stored(credentialFor(sandbox));
	const workers = [startWorker(stored), startWorker(stored)];
	try {
		await Promise.all(workers.map(async ({ ready }) => await ready));
		await new Promise((resolve) => setTimeout(resolve, LIVES * TOKEN_LIFETIME * 1000));
		await until(() => sandbox.store.jobs.size > 100);
		for (const { tell } of workers) tell({ kind: 'end' });
		const done = await Promise.all(workers.map(async (worker) => await worker.done));

		expect(done.flatMap(({ errors }) => errors)).toEqual([]);
		const items = done.reduce((sum, { items: some }) => sum + some, 0);
		expect(sandbox.store.jobs.size).toBe(items);
		const logins = sandbox.calls.filter(({ operation }) => operation === 'login');
		const [first] = logins;
		const lives = Math.ceil((Date.now() - (first?.at ?? 0)) / 1000 / TOKEN_LIFETIME);
		expect(logins.length).toBeGreaterThanOrEqual(lives - 1);
		// Four times as many again until they part, where the machine is slow; without an end there are dozens.
		expect(logins.length).toBeLessThanOrEqual(4 * (lives + 1));
	} finally {
		for (const { kill } of workers) kill();
		await sandbox.close();
	}
}, 60_000);
