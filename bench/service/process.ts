// The process of a service: what the service costs must not mix with what a contender costs.
import { freePort } from '../../host/ports';
import { startSandbox, type Sandbox } from '../../sandbox';
import type { Service } from '../case';
import type { Opened, Target } from './messages';

const LOOK_INTERVAL_MS = 5;

async function open({ options, away, hasFullNamespace }: Service): Promise<Opened> {
	const measured = await startSandbox({ port: await freePort(), ...options, recordCalls: false });
	const warmUp = await startSandbox({ recordCalls: false });
	if (hasFullNamespace === true) {
		measured.faults.plan(({ path }) =>
			path.includes('/namespaces/full/') ? { kind: 'rateLimit', retryAfter: 3_600 } : undefined,
		);
	}
	if (away !== undefined) goAway(measured, away);
	return { measured: targetOf(measured), warmUp: targetOf(warmUp) };
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
