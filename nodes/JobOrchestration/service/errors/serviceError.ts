import { ExecutionBaseError, type INode, NodeApiError } from 'n8n-workflow';

import { type Failure, meaningOf } from './failure';
import type { ErrorTexts, NamedJob } from './meaning';

/** The failures that this node's errors hold. n8n's wrappers pass the same object on, and nothing else is trusted. */
export const ownFailures = new WeakSet<object>();

/**
 * The error of a request that failed, the only one that service/ throws for it. If n8n wraps it, the NodeApiError takes
 * over the `context` of this base class in every n8n release; 1.x loses the `cause`.
 */
export class ServiceError extends ExecutionBaseError {
	/** Whether the service may have done what can't be repeated. */
	readonly mayHaveActed: boolean;
	/** The job that was to be created. */
	readonly job: NamedJob | undefined;

	constructor(
		readonly failure: Failure,
		{ message, reason, advice, detail }: ErrorTexts = meaningOf(failure),
		{ mayHaveActed = false, job }: { mayHaveActed?: boolean; job?: NamedJob | undefined } = {},
	) {
		super(asTitle(message), { level: 'warning' });
		this.description = asPlainText([advice, reason, detail].filter(Boolean).join('\n'));
		ownFailures.add(failure);
		this.context = { failure };
		this.mayHaveActed = mayHaveActed;
		this.job = job;
	}

	/** The HTTP status of the answer; null if none came. */
	get httpStatus(): number | null {
		return 'status' in this.failure ? this.failure.status : null;
	}
}

/** All in the title, where nothing else is shown: in the test of a credential. Words that it has already aren't repeated. */
export function asTitleOnly(failure: Failure, texts: ErrorTexts): ErrorTexts {
	const { message, advice, reason, detail = '' } = texts;
	const { words } = failure.kind === 'status' ? failure : {};
	const isSaid = words !== undefined && message.includes(words);
	// Without a system's code: n8n would put its own text in place of this one.
	const more = [advice, !isSaid && reason, detail.replace(/ \(E[A-Z_]+\)/g, '')];
	const rest = more.filter(Boolean).join(' ');
	const title = rest === '' ? message : `${message.replace(/\.$/, '')}. ${rest}`;
	return { message: unreplaced(title), advice: '' };
}

/** A title that n8n leaves as it is: an invisible character parts words with a system's code, as EPERM in "experiment". */
function unreplaced(title: string): string {
	const isLeft = new NodeApiError({} as INode, { message: title }).message === title;
	return isLeft ? title : title.replace(/(?<=[eg])(?=[a-z_]{4})/gi, '\u2060');
}

/** A text for a title: n8n takes "canceled" for a cancel. Where more follows the service's words, their full stop goes. */
export function asTitle(text: string): string {
	return asPlainText(text).replaceAll('canceled', 'cancelled').replaceAll('.; ', '; ');
}

/** A text that n8n can show anywhere: its editor reads HTML and backticks. Look-alikes replace what would be markup. */
export function asPlainText(text: string): string {
	return text
		.replaceAll('<', '‹')
		.replaceAll('>', '›')
		.replaceAll('`', 'ˋ')
		.replace(/&(?=#?\w+;)/g, '＆');
}
