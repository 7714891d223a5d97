import { present } from '../../texts';
import type { ServiceRequest } from '../request';
import type { Consequence } from '../retry/facts';
import { consequenceOf } from '../retry/policy';
import { type Answer, answerOf, isSuccess, retryAfterIn, saysFailed } from './answer';
import { addressOf, type Failure, failureOf, waitFacts } from './failure';
import { saidIn } from './said';
import type { Secrets } from './secrets';
import { textsOf } from './statuses';

/** The body of the expected response, or the failure if no such response came. */
export type Result<Body> = { body: Body } | { failure: Failure };

/**
 * Returns the body of a response if it is the expected one, or else a failure without secrets. What the interface
 * document shows is the expected response, whatever stands beside it.
 *
 * @param response the full response, as n8n's request helper returns it
 */
export function resultOf<Body>(
	response: unknown,
	request: ServiceRequest<Body>,
	{ account: { baseUrl }, secrets }: { account: { baseUrl: string }; secrets: Secrets },
): Result<Body> {
	const answer = answerOf(response);
	const { status, headers, body, kind } = answer;
	if (isSuccess(answer) && kind !== 'page' && request.isExpected(body)) return { body };
	const consequence = consequenceIn(answer, request);
	const { words, fact } = saidIn(answer, secrets, { mayHaveToken: request.isLogin === true });
	// The query is left out, since a service may put anything there.
	const location = secrets.redact(String(headers.location ?? '').replace(/[?#].*$/s, ''));
	const facts = present([
		fact,
		location !== '' && `The redirect leads to ${location}.`,
		...waitFacts(consequence.retryAfterMs),
		`${addressOf(request, baseUrl)} was answered with HTTP ${status}.`,
	]);
	const texts = textsOf(answer, consequence, request, { baseUrl, location });
	return { failure: failureOf({ ...consequence, ...texts, words, facts, httpStatus: status }) };
}

/** Returns what follows from a response that isn't the expected one. */
function consequenceIn(answer: Answer, { isLogin, job }: ServiceRequest<unknown>): Consequence {
	const { status, headers, body, mayBePage } = answer;
	const retryAfterMs = retryAfterIn(headers);
	const consequence = consequenceOf({ status, retryAfterMs, mayBePage }, isLogin);
	const wasRefused = status === 200 && saysFailed(body) === 'refused';
	// A response with an ID may show a job that was created nevertheless.
	if (!wasRefused || (job !== undefined && HAS_ID.test(JSON.stringify(body)))) return consequence;
	return { ...consequence, mayHaveActed: false };
}

/**
 * Matches a body, as JSON, that shows a job: by a field such as `id`, `uid`, `jobIds`, `task_uid` or `job`, or by a job's
 * name as the interface document shows it. The ID of a request shows none.
 */
const HAS_ID = /"(?:(?:[^"]*(?:job|task)[_-]?)?(?:uu?)?ids?|jobs?)":\[?(?:"[^"]|\d)|"name":"job-/i;
