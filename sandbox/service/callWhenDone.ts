import type { NewJob } from '../messages';
import { number } from '../number';
import { Refusal } from './refusal';

/** The UID of the only workflow template that has an effect: its jobs call an address when they have succeeded. */
const workflowUid = 'call-when-done';

/** The ID of the input that contains the address. */
const urlInput = 'callbackUrl';

/** The maximum duration of such a job: a day. */
const mostSeconds = 86_400;

export type Wish = NonNullable<ReturnType<typeof wishOf>>;

/**
 * Reads the inputs of a job of the template.
 * @returns the call that the job is to make, or undefined for a job of any other template
 * @throws Refusal 400, if an input is invalid, for example because the address isn't on loopback
 */
export function wishOf({ workflow, inputs = [] }: NewJob) {
	if (workflow.uid !== workflowUid) return undefined;
	const valueOf = (id: string) => inputs.find((input) => input.id === id)?.default ?? '';
	const numberOf = (id: string, usual: string, range: Parameters<typeof number>[1]) => {
		try {
			return number(valueOf(id).trim() || usual, range);
		} catch (error) {
			throw refusal(`'${id}' ${(error as Error).message}`);
		}
	};
	const wish = {
		/** Milliseconds that the job runs. */
		duration: 1_000 * numberOf('seconds', '5', { most: mostSeconds }),
		/** The number of calls. More than one imitates a template that calls again although its call was accepted. */
		calls: numberOf('calls', '1', { least: 1, most: 10, whole: true }),
		/** The Content-Type header of the call. A wrong one imitates a template that labels its JSON incorrectly. */
		contentType: valueOf('contentType').trim() || 'application/json',
	};
	const address = valueOf(urlInput);
	const url = URL.canParse(address) ? new URL(address) : undefined;
	if (url && isOnLoopback(url)) return { url, ...wish };
	throw refusal(
		`'${urlInput}' must be an address on this machine, such as http://127.0.0.1:5678/…, not '${address}': ` +
			'the sandbox calls no other',
	);
}

/**
 * Returns whether the URL is an HTTP address on loopback. `URL` has already normalized short forms: 127.1 is 127.0.0.1.
 * Host names other than `localhost` are rejected, since they may resolve to any machine.
 */
function isOnLoopback({ protocol, hostname }: URL): boolean {
	return protocol === 'http:' && /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(hostname);
}

function refusal(what: string): Refusal {
	return new Refusal(400, 'bad_request', `body/job/inputs: ${what}`);
}
