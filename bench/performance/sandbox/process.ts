// The process of the sandboxes: what a contender costs must not mix with what the service costs.
import { freePort } from '../../../host/ports';
import { startSandbox, type Sandbox } from '../../../sandbox';
import type { Away, Opened, Request, Seen, Target } from './messages';
import { plans } from './plans';
import { Requests } from './requests';

/** Milliseconds between two looks at how many jobs there are. */
const LOOK = 5;

let open: { measured: Sandbox; warmUp: Sandbox; requests: Requests } | undefined;

async function openBoth({
	options,
	away,
	plan,
}: Extract<Request, { kind: 'open' }>): Promise<Opened> {
	await closeBoth();
	const [measured, warmUp] = await Promise.all([
		startSandbox({ port: await freePort(), ...options, recordCalls: false }),
		startSandbox({ recordCalls: false }),
	]);
	open = { measured, warmUp, requests: new Requests(Number(new URL(measured.url).port)) };
	if (plan !== undefined) measured.faults.plan(plans[plan]());
	if (away !== undefined) await goAway(measured, away);
	return { measured: targetOf(measured), warmUp: targetOf(warmUp) };
}

async function goAway(sandbox: Sandbox, away: Away): Promise<void> {
	if (away.after === 0) {
		await sandbox.goAway();
		return;
	}
	const looking = setInterval(() => {
		if (open?.measured === sandbox && sandbox.store.jobs.size < away.after) return;
		clearInterval(looking);
		if (open?.measured !== sandbox) return;
		void sandbox.goAway().then(() => setTimeout(() => void sandbox.comeBack(), away.for));
	}, LOOK);
}

async function closeBoth(): Promise<Seen | undefined> {
	if (open === undefined) return undefined;
	const { measured, warmUp, requests } = open;
	open = undefined;
	const seen = {
		jobs: measured.store.jobs.size,
		logins: measured.tokens.issued,
		requests: requests.total,
		requestsAtOnce: requests.atOnce,
		connectionsAtOnce: measured.connections.peak,
	};
	requests.stop();
	await Promise.all([measured.close(), warmUp.close()]);
	return seen;
}

function targetOf({ url, userName, password }: Sandbox): Target {
	return { url, userName, password };
}

process.on('message', (request: Request) => {
	const done = request.kind === 'open' ? openBoth(request) : closeBoth();
	done.then(
		(answer) => process.send?.(answer ?? null),
		(error: unknown) => {
			process.stderr.write(`The sandbox: ${String(error)}\n`);
			process.exit(1);
		},
	);
});
process.on('disconnect', () => process.exit());
