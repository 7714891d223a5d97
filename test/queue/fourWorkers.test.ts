import { setTimeout as sleep } from 'node:timers/promises';

import type { Execution } from '../../host/api';
import type { RunningN8n } from '../../host/n8n';
import { waitFor } from '../../host/wait';
import { byWebhook, orNotYet, post, publish } from './load';
import { takenForDeadSooner, useCluster } from './useCluster';

/* Everything at once: four workers that die one after the other, tokens that end, a service that has a limit. */

const cluster = useCluster('queue-four', {
	workers: 4,
	env: takenForDeadSooner,
});

const EXECUTIONS = 1_000;
const TOKEN_LIFETIME = 3;
const SECONDS_BETWEEN_KILLS = 15;
/** Less than four workers ask of it. */
const PER_SECOND = 10;

/** All executions of a workflow. n8n sorts them by their start and pages by their id, so ids are gone through. */
async function executionsOf(workflowId: string): Promise<Execution[]> {
	const { api } = cluster();
	const filter = encodeURIComponent(JSON.stringify({ workflowId }));
	const page = async (range: string) =>
		(
			await api.call<{ results: Execution[] }>(
				'GET',
				`/rest/executions?filter=${filter}&limit=100${range}`,
			)
		).results;
	const all: Execution[] = [];
	const newest = Math.max(...(await page('')).map(({ id }) => Number(id)));
	for (let first = 0; first <= newest + 100; first += 50) {
		all.push(...(await page(`&firstId=${first}&lastId=${first + 51}`)));
	}
	return all;
}

test('1,000 executions on four workers that are killed one after the other make each job once', async () => {
	const sandbox = await cluster().useSandbox({
		tokenLifetime: TOKEN_LIFETIME,
		latency: 50,
		limits: { perSecond: PER_SECOND, tooMany: 429, retryAfter: 1 },
	});
	const { api, main, example, addWorker, workers } = cluster();
	const nightly = byWebhook(example('nightly-job.json'), 'nightly', 'onReceived');
	const { id } = await publish(api, nightly);
	const startedAt = performance.now();
	const seconds = () => (performance.now() - startedAt) / 1000;

	let over = false;
	const killing = async (): Promise<number> => {
		const crew: RunningN8n[] = [...workers];
		for (let kills = 0; ; kills += 1) {
			const next = (kills + 1) * SECONDS_BETWEEN_KILLS;
			while (!over && seconds() < next) await sleep(200);
			if (over) return kills;
			await crew.shift()?.kill();
			crew.push(await addWorker());
		}
	};
	const kills = killing();
	const posted = await post(`${main.url}/webhook/nightly`, new Array(EXECUTIONS).fill({}), 20);
	const ended = await waitFor(
		orNotYet(async () => (await api.countExecutions(id, ['new', 'running'])) === 0 || undefined),
		{ timeout: 600_000, interval: 1_000 },
	);
	const took = seconds();
	over = true;
	const killed = await kills;

	const executions = await executionsOf(id);
	const byStatus: Record<string, number> = {};
	for (const { status } of executions) byStatus[status] = (byStatus[status] ?? 0) + 1;
	const failed = new Set(
		executions.filter(({ status }) => status !== 'success').map((each) => each.id),
	);
	const known = new Set(executions.map((each) => each.id));
	const jobs = [...sandbox.store.jobs.values()].map(({ displayName }) => displayName);
	const made = new Set(jobs);
	const idOf = (name: string) => name.replace('Job of execution ', '');
	const withoutJob = executions.filter(
		(each) => each.status === 'success' && !made.has(`Job of execution ${each.id}`),
	);
	const unknown = jobs.filter((name) => !known.has(idOf(name)));
	const logins = sandbox.calls.filter(({ operation }) => operation === 'login').length;
	const lives = Math.ceil(took / TOKEN_LIFETIME);
	const { most, turnedAway } = sandbox.limits.met;
	process.stdout.write(
		`\n${EXECUTIONS} executions on four workers, ${killed} of them killed, one every ${SECONDS_BETWEEN_KILLS} s: ` +
			`${JSON.stringify(byStatus)} in ${took.toFixed(0)} s; ${jobs.length} jobs, ` +
			`${jobs.length - made.size} doubled, ${unknown.length + withoutJob.length} lost without a word; of the failed ` +
			`${jobs.filter((name) => failed.has(idOf(name))).length} have a job. ${logins} log-ins in ${lives} lives of a ` +
			`token; ${most} requests at once at most, ${turnedAway} turned away at ${PER_SECOND} a second.\n`,
	);
	expect(posted.filter(({ status }) => status !== 200)).toEqual([]);
	expect(ended).toBe(true);
	expect(executions.length).toBe(EXECUTIONS);
	expect(killed).toBeGreaterThanOrEqual(2);
	expect(jobs.length - made.size).toBe(0);
	expect({ withoutJob, unknown }).toEqual({ withoutJob: [], unknown: [] });
	// A worker has ten executions under way at most.
	expect(failed.size).toBeLessThanOrEqual(10 * killed);
	expect(logins).toBeLessThanOrEqual(4 * lives + killed);
	expect(turnedAway).toBeGreaterThan(0);
	expect(most).toBeLessThanOrEqual(4 * 10);
}, 900_000);
