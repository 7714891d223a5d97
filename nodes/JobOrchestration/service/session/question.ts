import { isJsonObject } from '../../json';
import { meaningOf } from '../errors/failure';
import type { TokenDoubt } from '../errors/meaning';
import type { ServiceRequest } from '../request';
import { isWithin, wait } from '../timers';
import { type Helpers, sendDirectly, type Sender } from './login';

/** A request that changes nothing, to see whether the service is there and accepts a token. */
export const QUESTION = {
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

/** How long the service may take to answer it. With more, a failed request would seem to hang. */
export const QUESTION_TIMEOUT_MS = 10_000;

/** How long requests are collected before it is asked. Without it, those that fail a moment apart would each ask. */
const COLLECT_MS = 50;

/** How long its answer counts for a doubt. Without it, a batch of items that are all refused would ask 20 times a second. */
const KEPT_MS = 2_000;

interface Asked {
	token: string;
	isSent: boolean;
	/** In ms since 1970. */
	answeredAt?: number;
	answer: Promise<TokenDoubt | undefined>;
}

/** The question whether the service accepts a token: asked once for all that ask at about the same time. */
export class Question {
	private last?: Asked;

	constructor(private readonly sender: Sender) {}

	/**
	 * What the service's answer says of a token; undefined if it accepts it, as far as the answer says so. It never throws.
	 *
	 * @param doubt why it is asked. Unless it is only a doubt, the question has to be sent later than that
	 */
	async about(
		helpers: Helpers,
		token: string,
		doubt?: TokenDoubt,
	): Promise<TokenDoubt | undefined> {
		const { last } = this;
		const { isSent = false, answeredAt = Date.now() } = last ?? {};
		const counts = !isSent || (doubt === 'doubtful' && isWithin(KEPT_MS, answeredAt));
		if (last?.token === token && counts) return await last.answer;
		const answer = wait(COLLECT_MS).then(async () => {
			asked.isSent = true;
			const result = await sendDirectly(helpers, this.sender, QUESTION, QUESTION_TIMEOUT_MS, token);
			asked.answeredAt = Date.now();
			return 'failure' in result ? meaningOf(result.failure).token : undefined;
		});
		const asked: Asked = { token, isSent: false, answer };
		this.last = asked;
		return await answer;
	}
}
