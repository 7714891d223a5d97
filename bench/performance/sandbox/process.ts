// The process of the sandboxes: what a contender costs must not mix with what the service costs.
import { startSandbox, type Sandbox } from '../../../sandbox';
import type { Opened, Request, Seen, Target } from './messages';
import { Requests } from './requests';

let open: { measured: Sandbox; warmUp: Sandbox; requests: Requests } | undefined;

async function openBoth({
	latency,
	clusters,
}: Extract<Request, { kind: 'open' }>): Promise<Opened> {
	await closeBoth();
	const [measured, warmUp] = await Promise.all([
		startSandbox({ latency, clusters, recordCalls: false }),
		startSandbox({ recordCalls: false }),
	]);
	open = { measured, warmUp, requests: new Requests(Number(new URL(measured.url).port)) };
	return { measured: targetOf(measured), warmUp: targetOf(warmUp) };
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
