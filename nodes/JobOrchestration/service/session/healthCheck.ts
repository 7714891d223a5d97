import { isJsonObject } from '../../json';
import type { ServiceRequest } from '../request';
import { NOTHING_KNOWN } from '../retry/facts';
import { mayResend } from '../retry/policy';
import { isWithin } from '../timers';
import { type Helpers, sendDirectly, type Sender } from './login';

/** A request that changes nothing. It shows whether the service answers and whether it accepts a token. */
export const HEALTH_CHECK = {
	method: 'GET',
	path: '/api/v1/clusters',
	qs: { 'ListOption.limit': 1 },
	idempotent: true,
	expected: 'a list of work clusters',
	// A service may omit an empty list from its response.
	isExpected: (body: unknown): body is unknown =>
		isJsonObject(body) &&
		('items' in body || Object.keys(body).every((name) => name === 'metadata')),
	texts: () => ({
		action: 'answer a health check',
		ifRefused:
			'Ask the administrator of the service whether the user is allowed to list work clusters.',
	}),
} as const satisfies ServiceRequest<unknown>;

/**
 * Milliseconds within which the service has to answer a health check, or to reject the token of another node's request.
 * Short enough that a failed request doesn't seem to hang.
 */
export const CHECK_TIMEOUT_MS = 10_000;

/**
 * Milliseconds for which an earlier result is reused: that a login was refused, that a health check accepted a token
 * which is now suspect or rejected again, or that a login was successful, if another node has no token. Long enough
 * that executions which start together don't lock the account, and that refused items don't each cost a health check.
 */
export const REUSE_MS = 5_000;

/**
 * The result of a health check:
 * - `accepted`: The service accepts the token, or its response is neither temporary nor about the token.
 * - `suspect`: The service may not accept the token.
 * - `rejected`: The service doesn't accept the token.
 * - `failed`: The failure is temporary, and the token may be the reason.
 * - `away`: The response is a 404 that may come from a proxy instead of the service.
 * - `unknown`: The failure is temporary and only about the service or the connection, or the check was not sent.
 */
export type Health = 'accepted' | 'suspect' | 'rejected' | 'failed' | 'away' | 'unknown';

/** The health checks of one account. */
export class HealthChecks {
	/** Whether the service has answered a request of this node as expected. */
	wasAnswered = false;
	/**
	 * Whether the service has answered a health check or a list of work clusters as expected. If not, it may have no such
	 * list for this user.
	 */
	hasListed = false;
	private current: { token: string; health: Promise<Health> } | undefined;
	private accepted: { token: string; at: number } | undefined;

	constructor(private readonly sender: Sender) {}

	/**
	 * Checks whether the service accepts a token. Concurrent checks of the same token share one request. Never throws.
	 *
	 * @param reuseMs milliseconds for which an earlier acceptance of the token is reused
	 */
	async check(helpers: Helpers, token: string, reuseMs = 0): Promise<Health> {
		const { accepted } = this;
		if (accepted?.token === token && isWithin(reuseMs, accepted.at)) return 'accepted';
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
		const { failure } = result;
		if (failure.notFoundBy === 'service or proxy') return 'away';
		const isUndecided = NOTHING_KNOWN.includes(failure.condition) || mayResend(failure, true);
		if (!isUndecided) return failure.token ?? 'accepted';
		return failure.token === undefined ? 'unknown' : 'failed';
	}
}
