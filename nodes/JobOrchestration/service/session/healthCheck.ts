import { isJsonObject } from '../../json';
import { meaningOf } from '../errors/kinds';
import type { ServiceRequest } from '../request';
import { mayResend } from '../retry/policy';
import { isWithin } from '../timers';
import { type Helpers, sendDirectly, type Sender } from './login';

/** A request that changes nothing, to see whether the service is there and accepts a token. */
export const HEALTH_CHECK = {
	method: 'GET',
	path: '/api/v1/clusters',
	qs: { 'ListOption.limit': 1 },
	idempotent: true,
	expected: 'a list of work clusters',
	// A service may leave out an empty list.
	isExpected: (body: unknown): body is unknown =>
		isJsonObject(body) &&
		('items' in body || Object.keys(body).every((name) => name === 'metadata')),
} as const satisfies ServiceRequest<unknown>;

/** How long the service may take to answer it, or to reject a token. With more, a failed request would seem to hang. */
export const CHECK_TIMEOUT_MS = 10_000;

/**
 * How long the service's word counts: that it refused a login, or that it accepts a token which an answer made suspect. With
 * less, executions that start together could lock the account, and refused items would each cost a health check.
 */
export const COUNTS_MS = 5_000;

/**
 * What a health check has found of the service and the token: `suspect` if the token may not be accepted; `failed` if the
 * service failed, for which the token may be the reason; `unknown` if the answer, if one came, is about the service alone.
 */
export type Health = 'accepted' | 'suspect' | 'rejected' | 'failed' | 'away' | 'unknown';

/** The health checks of one account. */
export class HealthChecks {
	/** Whether the service has answered a request of this node as expected. */
	wasAnswered = false;
	/** Whether it has answered a health check or a list so. Else it may have no list for this user. */
	hasListed = false;
	private current: { token: string; health: Promise<Health> } | undefined;
	private accepted: { token: string; at: number } | undefined;

	constructor(private readonly sender: Sender) {}

	/**
	 * Asks whether the service accepts a token, once for all that want to know it at the same time. It never throws.
	 *
	 * @param countsMs for how long an earlier acceptance counts
	 */
	async check(helpers: Helpers, token: string, countsMs = 0): Promise<Health> {
		const { accepted } = this;
		if (accepted?.token === token && isWithin(countsMs, accepted.at)) return 'accepted';
		if (this.current?.token !== token) {
			const current = { token, health: this.find(helpers, token) };
			this.current = current;
			void current.health.finally(() => {
				if (this.current === current) this.current = undefined;
			});
		}
		return await this.current.health;
	}

	private async find(helpers: Helpers, token: string): Promise<Health> {
		const result = await sendDirectly(helpers, this.sender, HEALTH_CHECK, CHECK_TIMEOUT_MS, token);
		if ('body' in result) {
			this.hasListed = true;
			this.accepted = { token, at: Date.now() };
			return 'accepted';
		}
		const meaning = meaningOf(result.failure);
		if (meaning.notFoundBy === 'service or proxy') return 'away';
		if (mayResend(meaning, true)) return meaning.token === undefined ? 'unknown' : 'failed';
		return meaning.token ?? 'accepted';
	}
}
