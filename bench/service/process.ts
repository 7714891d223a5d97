// The process of a service: what the service costs must not mix with what a contender costs.
import { freePort } from '../../host/ports';
import { startSandbox, type Plan, type Sandbox } from '../../sandbox';
import type { CreateAnswer, Service } from '../case';
import type { Opened, Target } from './messages';

const LOOK_INTERVAL_MS = 5;

async function open({ options, away, creates }: Service): Promise<Opened> {
	const measured = await startSandbox({ port: await freePort(), ...options, recordCalls: false });
	const warmUp = await startSandbox({ recordCalls: false });
	if (creates !== undefined) measured.faults.plan(planFor(creates, measured, options.latency ?? 0));
	if (away !== undefined) goAway(measured, away);
	return { measured: targetOf(measured), warmUp: targetOf(warmUp) };
}

function planFor(creates: CreateAnswer, { store }: Sandbox, latency: number): Plan {
	const unavailable = { kind: 'answer', when: 'beforeActing', status: 503 } as const;
	let inFlight = 0;
	return ({ operation, path }) => {
		if (creates === 'silent' && store.jobs.size >= 20)
			return { kind: 'stall', when: 'beforeActing' };
		if (operation !== 'createJob') return undefined;
		if (creates === '503') return unavailable;
		if (creates === 'full' && path.includes('/namespaces/full/')) {
			return { kind: 'rateLimit', retryAfter: 3_600 };
		}
		if (creates !== 'tenAtOnce') return undefined;
		if (inFlight === 10) return unavailable;
		inFlight += 1;
		setTimeout(() => (inFlight -= 1), latency);
		return undefined;
	};
}

function goAway(sandbox: Sandbox, away: NonNullable<Service['away']>): void {
	const looking = setInterval(() => {
		if (sandbox.store.jobs.size < away.afterJobs) return;
		clearInterval(looking);
		void sandbox.goAway().then(() => setTimeout(() => void sandbox.comeBack(), away.forMs));
	}, LOOK_INTERVAL_MS);
}

function targetOf({ url, userName, password }: Sandbox): Target {
	return { url, userName, password };
}

process.on('message', (service: Service) => void open(service).then((to) => process.send?.(to)));
process.on('disconnect', () => process.exit());
