import '../test/engine/quiet.cjs';

import { parseArgs } from 'node:util';

import type { INodeParameters } from 'n8n-workflow';

import { freePort } from '../host/ports';
import type { Sandbox } from '../sandbox';
import { startSandbox } from '../sandbox';
import { change, create, credentialFor, numbered } from '../test/engine/fixture';
import { Engine } from '../test/engine/run';
import type { Result } from '../test/engine/run';
import { accountOfChanges, accountOfCreates, endedByToken } from './soak/accounts';
import { Trouble } from './soak/trouble';

/*
 * A long run over a service that fails one request in ten, in every way that there is, whose tokens expire every few
 * hundred requests, which takes only so many a second, and which is restarted now and then. What the node promises is counted afterwards; a promise that was
 * broken makes the exit code 1.
 *
 *   npm run soak -- --items 10000 --seed 1
 */

/** What the node's own pace goes up to. */
const MOST_AT_ONCE = 100;
const TIMEOUT = 1_000;
const LIMITS = { perSecond: 60, burst: 20 };
/** Milliseconds between two restarts, and for which it is away then. */
const RESTART_EVERY = 4_000;
const AWAY = 400;
/** Milliseconds that each answer takes, so that there are several requests under way. */
const LATENCY = 20;
const HOUR = 3_600_000;

const { values } = parseArgs({
	options: {
		items: { type: 'string', default: '10000' },
		seed: { type: 'string', default: String(Date.now() % 1_000_000_000) },
	},
});
const size = Number(values.items);
const seed = Number(values.seed);

const say = (text: string) => process.stdout.write(`${text}\n`);

async function soak(): Promise<number> {
	say(`${size} items, seed ${seed} (repeat with: npm run soak -- --items ${size} --seed ${seed})`);
	const sandbox = await startSandbox({
		port: await freePort(),
		jobDuration: HOUR,
		latency: LATENCY,
		limits: LIMITS,
		recordCalls: false,
	});
	const engine = await Engine.load();
	engine.saveCredential(credentialFor(sandbox));
	const trouble = new Trouble(seed);
	const progress = setInterval(() => {
		say(
			`  ${trouble.calls} calls, ${sandbox.store.jobs.size} jobs, ${sandbox.tokens.issued} tokens`,
		);
	}, 5_000);

	let restarts = 0;
	let away = Promise.resolve();
	const restarting = setInterval(() => {
		restarts += 1;
		away = sandbox.goAway().then(async () => {
			await new Promise((resolve) => setTimeout(resolve, AWAY));
			await sandbox.comeBack();
		});
	}, RESTART_EVERY);

	let broken = 0;
	let warnings = 0;
	process.on('warning', () => {
		warnings += 1;
	});
	const options = { timeout: TIMEOUT };
	const begin = async (title: string, parameters: INodeParameters, items = numbered(size)) => {
		say(`\n${title}`);
		trouble.reset();
		restarts = 0;
		sandbox.limits.reset();
		sandbox.connections.reset();
		const issuedBefore = sandbox.tokens.issued;
		sandbox.faults.plan((call) => trouble.next(call));
		const startedAt = performance.now();
		const result = await engine.run({ parameters, onError: 'continueErrorOutput' }, items);
		const seconds = (performance.now() - startedAt) / 1_000;
		report({
			seconds: seconds.toFixed(1),
			calls: trouble.calls,
			'that went wrong': trouble.struck,
			'ways in which they did': trouble.ways,
			'that were too many': sandbox.limits.met.turnedAway,
			'restarts of the service': restarts,
			'times that all tokens expired': trouble.expiries,
			'log-ins that succeeded': sandbox.tokens.issued - issuedBefore,
			'connections at once at most': sandbox.connections.peak,
		});
		return result;
	};
	const promise = (figures: Record<string, number>) => {
		for (const [what, count] of Object.entries(figures)) {
			say(`  ${what}: ${count}${count === 0 ? '' : '   <- a promise is broken'}`);
			if (count !== 0) broken += 1;
		}
	};

	try {
		const made = await begin('Create', create({ displayName: '={{ $json.n }}', options }));
		const creates = accountOfCreates(made, size, sandbox.store.jobs.values());
		report(creates.figures);
		promise({ ...creates.promises, ...connectionsAndLogins(made, sandbox, trouble, restarts) });

		const jobs = [...sandbox.store.jobs.values()];
		for (const operation of ['suspend', 'resume', 'stop'] as const) {
			const changed = await begin(
				operation,
				change(operation, { jobId: '={{ $json.uid }}', options }),
				jobs.map(({ uid }) => ({ uid })),
			);
			const changes = accountOfChanges(changed, operation, jobs);
			report(changes.figures);
			promise({
				...changes.promises,
				...connectionsAndLogins(changed, sandbox, trouble, restarts),
			});
		}
		say('\nIn all');
		promise({ 'warnings of Node.js': warnings });
	} finally {
		clearInterval(progress);
		clearInterval(restarting);
		await away;
		await sandbox.close();
	}
	say(broken === 0 ? '\nEvery promise was kept.' : `\n${broken} promises were broken.`);
	return broken === 0 ? 0 : 1;
}

function report(figures: Record<string, number | string>): void {
	for (const [what, figure] of Object.entries(figures)) say(`  ${what}: ${figure}`);
}

/**
 * How far the connections and the log-ins went beyond what they may be. A connection that a client has left
 * is there for a moment longer, so some more than there are requests at once may be counted.
 */
function connectionsAndLogins(
	result: Result,
	{ connections }: Sandbox,
	{ logins, expiries, rejections, loginsStruck }: Trouble,
	restarts: number,
): Record<string, number> {
	return {
		'items that a log-in would have saved': Math.max(0, endedByToken(result) - rejections),
		'connections beyond a hundred': Math.max(0, connections.peak - 1.2 * MOST_AT_ONCE),
		'log-ins beyond one for each time that a token was rejected, or a log-in cut off': Math.max(
			0,
			logins - 1 - expiries - rejections - loginsStruck - restarts,
		),
	};
}

soak().then(
	(code) => {
		process.exitCode = code;
	},
	(error: unknown) => {
		say(error instanceof Error ? String(error.stack) : String(error));
		process.exitCode = 1;
	},
);
