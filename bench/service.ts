// The process of a service. It is separate from the contender's process, whose processor time and memory are measured.
import { worker } from 'workerpool';

import { freePort } from '../host/ports';
import { startSandbox, type Plan, type Sandbox } from '../sandbox';
import { answer } from '../test/support/answer';
import type { CreateAnswer, Service, Target } from './case';

const LOOK_INTERVAL_MS = 5;

/** Starts two sandboxes: one for the measurement, and another one for the warm-up. */
export async function open({ options, away, creates }: Service) {
	const measured = await startSandbox({ port: await freePort(), ...options, recordCalls: false });
	const warmUp = await startSandbox({ recordCalls: false });
	if (creates !== undefined) measured.faults.plan(planFor(creates, measured, options.latency ?? 0));
	if (away !== undefined) goAway(measured, away);
	return { measured: targetOf(measured), warmUp: targetOf(warmUp) };
}

function planFor(creates: CreateAnswer, { store }: Sandbox, latency: number): Plan {
	const tenAtOnce = takesTenAtOnce(latency);
	return (call) => {
		if (creates === 'silent' && store.jobs.size >= 20)
			return { kind: 'stall', when: 'beforeActing' };
		if (call.operation !== 'createJob') return undefined;
		if (creates === '503') return answer(503);
		if (creates === 'tenAtOnce') return tenAtOnce(call);
		if (creates === 'full' && call.path.includes('/namespaces/full/')) {
			return { kind: 'rateLimit', retryAfter: 3_600 };
		}
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

worker({ open });

/**
 * Returns a plan for a service that processes ten requests at a time and takes `latency` milliseconds for each. It
 * answers every further request with a 503 without a body. Logins don't count.
 */
function takesTenAtOnce(latency: number): Plan {
	let inFlight = 0;
	return ({ operation }) => {
		if (operation === 'login') return undefined;
		if (inFlight >= 10) return answer(503);
		inFlight += 1;
		const over = new Promise((resolve) => setTimeout(resolve, latency));
		return { kind: 'wait', when: 'afterActing', until: over.then(() => (inFlight -= 1)) };
	};
}
