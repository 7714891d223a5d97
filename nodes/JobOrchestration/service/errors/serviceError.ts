import { ExecutionBaseError } from 'n8n-workflow';

import type { Failure } from './failure';
import { contextOf } from './failure';
import type { NamedJob } from './namedJob';
import type { ErrorTexts } from './statusTexts';

const ABOUT_ALL_ITEMS = new Set<Failure['kind']>([
	'baseUrl',
	'unreachable',
	'blocked',
	'tls',
	'certificate',
	'n8nFailed',
]);

/** Whether a failure is about the credential or the connection: then it would meet every item. */
export function isAboutAllItems({ kind, ofLogin }: Failure): boolean {
	return ofLogin === true || ABOUT_ALL_ITEMS.has(kind);
}

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
		{ message, reason, advice, detail }: ErrorTexts,
		{ mayHaveActed = false, job }: { mayHaveActed?: boolean; job?: NamedJob | undefined } = {},
	) {
		super(asTitle(message), { level: 'warning' });
		this.description = asPlainText([advice, reason, detail].filter(Boolean).join('\n'));
		this.context = contextOf(failure);
		this.mayHaveActed = mayHaveActed;
		this.job = job;
	}

	get jobMayExist(): boolean {
		return this.mayHaveActed && this.job !== undefined;
	}

	/** The HTTP status of the answer; null if none came. */
	get httpStatus(): number | null {
		return 'status' in this.failure ? this.failure.status : null;
	}
}

/**
 * All in the title, where nothing else is shown: in the test of a credential. The service's own words stay out, and
 * so do the system's codes: n8n replaces a title that holds one it knows.
 */
export function asTitleOnly({ message, advice, detail = '', ...rest }: ErrorTexts): ErrorTexts {
	const texts = [message, [advice, detail.replace(/ \(E[A-Z_]+\)/g, '')].filter(Boolean).join(' ')];
	return { ...rest, message: texts.filter(Boolean).join('. '), advice: '' };
}

/** A plain text for an error's message: n8n stores an execution as cancelled if that contains "canceled". */
export function asTitle(text: string): string {
	return asPlainText(text).replaceAll('canceled', 'cancelled');
}

/**
 * A text that n8n can show anywhere: its editor takes texts for HTML, and backticks for code, others don't. What would be
 * markup is replaced by look-alikes.
 */
export function asPlainText(text: string): string {
	return text
		.replaceAll('<', '‹')
		.replaceAll('>', '›')
		.replaceAll('`', 'ˋ')
		.replace(/&(?=#?\w+;)/g, '＆');
}
