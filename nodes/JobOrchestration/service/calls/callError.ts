import type { Failure } from '../errors/failure';
import { meaningOf } from '../errors/failure';
import type { ErrorTexts } from '../errors/meaning';
import { consequenceOf } from '../errors/rules';
import type { NamedJob } from '../errors/serviceError';
import { isAboutAllItems, ServiceError } from '../errors/serviceError';
import type { Denial } from '../pace/limiter';
import type { ServiceRequest } from '../request';

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
	const byStatus = { 404: messages.notFound, 409: messages.conflict };
	const about = { baseUrl, timeout, action, hint: messages.hint, byStatus };
	const { message, advice, reason, detail } = meaningOf(failure, about);
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
