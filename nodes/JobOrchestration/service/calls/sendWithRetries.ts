import { explain } from '../errors/explain';
import type { Failure } from '../errors/failure';
import { consequenceOf, mayRetry, retryDelay } from '../errors/rules';
import type { NamedJob } from '../errors/serviceError';
import { isAboutAllItems, ServiceError } from '../errors/serviceError';
import type { ErrorTexts } from '../errors/statusTexts';
import type { HttpClient } from '../http';
import { cannotBeReached } from '../pace/breaker';
import { LimitedRequest } from '../pace/limitedRequest';
import type { Denial } from '../pace/limiter';
import type { RequestOptions, ServiceRequest } from '../request';
import { wait } from '../timers';

/** A call of the service: what is sent, what is to come back, and what its errors say. */
export interface Call<Body> {
	request: ServiceRequest<Body>;
	/** Whether sending it twice does the same as sending it once, so that it may be sent again. */
	idempotent: boolean;
	/** The job that it is to make. */
	job?: NamedJob;
	action: string;
	messages: {
		/** What was requested, for the end of a description: "stop job 'x' in namespace 'y'". */
		request: string;
		/** What a user who is refused may have mixed up. */
		hint?: string;
		notFound: ErrorTexts;
		/** Explains a 409; without it, a 409 is a refusal like any other. */
		conflict?: ErrorTexts;
		/** Unless it is idempotent: how to find out whether it worked. */
		uncertain?: string;
	};
}

/** Nothing was sent, because the execution was stopped before that. */
export class StoppedBeforeSending extends Error {}

/**
 * Sends the request of a call until the expected response comes, or until it may not be sent again (rules.ts).
 *
 * @throws ServiceError if it failed, StoppedBeforeSending if the signal came first
 */
export async function sendWithRetries<Body>(
	httpClient: HttpClient,
	call: Call<Body>,
	options: RequestOptions,
): Promise<Body> {
	const { limiter, baseUrl } = httpClient;
	const { maxRetries, timeout, signal } = options;
	const ask = async () => await httpClient.ask(options);
	const request = new LimitedRequest(limiter, options, !call.idempotent, ask);
	let failure: Failure | undefined;
	let retries = 0;
	let timesSent = 0;
	let earlierMayHaveActed = false;
	const errorOf = (reason: Failure, denial: Denial = {}) =>
		callError(call, reason, { baseUrl, timeout, timesSent, earlierMayHaveActed, ...denial });

	const nextStep = (reason: Failure, probe: number): 'fail' | 'resend' | 'wait and resend' => {
		if (!mayRetry(reason, call)) return 'fail';
		if (limiter.waitsTogether(reason, probe, maxRetries)) return 'resend';
		if (cannotBeReached(consequenceOf(reason).condition)) limiter.giveUp(reason);
		else if (retries < maxRetries) return 'wait and resend';
		return 'fail';
	};

	for (;;) {
		const result = await request.send(async ({ probe, onSent }) => {
			let step: ReturnType<typeof nextStep> = 'fail';
			try {
				const answer = await httpClient.send(call.request, options, onSent);
				timesSent += 1;
				step = 'body' in answer ? 'resend' : nextStep(answer.failure, probe);
				return { ...answer, step };
			} finally {
				if (step === 'fail') options.onFailure?.();
			}
		});
		if ('body' in result) return result.body;
		if ('denial' in result) {
			failure ??= result.denial.failure;
			throw failure === undefined ? new StoppedBeforeSending() : errorOf(failure, result.denial);
		}
		({ failure } = result);
		if (result.step === 'wait and resend') {
			await wait(retryDelay(failure, retries), signal);
			retries += 1;
		}
		if (result.step === 'fail' || signal?.aborted === true) throw errorOf(failure);
		// A read has no effect that the error would have to mention.
		earlierMayHaveActed ||= call.request.method !== 'GET' && consequenceOf(failure).mayHaveActed;
	}
}

interface Attempts extends Omit<Denial, 'failure'> {
	baseUrl: string;
	/** Of one request, in milliseconds. */
	timeout: number;
	timesSent: number;
	/** Whether a try before the last one may have had its effect. */
	earlierMayHaveActed?: boolean;
}

/** The error of a call that failed, which says whether it may have worked nevertheless. */
export function callError(call: Call<unknown>, failure: Failure, attempts: Attempts): ServiceError {
	const { action, messages } = call;
	const { baseUrl, timeout, waitedMs } = attempts;
	// One that was given up while it waited can't have worked: else it would not have been sent again.
	const mayHaveWorked =
		!call.idempotent && waitedMs === undefined && consequenceOf(failure).mayHaveActed;
	const doubt = call.job === undefined ? 'it may have worked' : 'the job may exist';
	const { message, advice, reason, detail }: ErrorTexts = {
		...explain(failure, { baseUrl, timeout, action, hint: messages.hint }),
		...ownWordsOf(call, failure),
	};
	// How to find out replaces any other advice, above all "try again".
	const whatToDo = mayHaveWorked ? messages.uncertain : advice;
	// What concerns the credential or the connection isn't about this request.
	const request = isAboutAllItems(failure) ? '' : `Request: ${messages.request} at ${baseUrl}.`;
	const texts = {
		message: mayHaveWorked ? `${message}; ${doubt}` : message,
		advice: sentences([whatToDo, ...historyOf(attempts)]),
		reason,
		detail: sentences([detail, request]),
	};
	return new ServiceError(failure, texts, { mayHaveActed: mayHaveWorked, job: call.job });
}

function ownWordsOf({ messages }: Call<unknown>, failure: Failure): ErrorTexts | undefined {
	if (failure.kind !== 'status' || failure.ofLogin === true) return undefined;
	if (failure.status === 404) return messages.notFound;
	return failure.status === 409 ? messages.conflict : undefined;
}

function historyOf({
	timesSent,
	earlierMayHaveActed,
	waitedMs = 0,
	failedProbes = 0,
}: Attempts): string[] {
	const seconds = Math.round(waitedMs / 1_000);
	return [
		seconds > 0
			? `All requests waited ${seconds} s for the service (probes: ${failedProbes}).`
			: '',
		timesSent > 1 ? `The node tried ${timesSent} times.` : '',
		earlierMayHaveActed === true ? 'An earlier try got no clear response and may have worked.' : '',
	];
}

const sentences = (texts: Array<string | undefined>) => texts.filter(Boolean).join(' ');
