import type { NewJob } from '../messages';
import { number } from '../number';
import { Refusal } from './refusal';

/** The one workflow template that does something: its job calls an address when it has succeeded. */
const workflowUid = 'call-when-done';

/** The input that holds the address. */
const urlInput = 'callbackUrl';

/** The longest that such a job can run, a day. */
const mostSeconds = 86_400;

export type Wish = NonNullable<ReturnType<typeof wishOf>>;

/**
 * What a job asks for, if it is one of the template.
 * @returns undefined for a job of any other template
 * @throws Refusal 400, when its inputs can't be followed; so where the address isn't on loopback
 */
export function wishOf({ workflow, inputs = [] }: NewJob) {
	if (workflow.uid !== workflowUid) return undefined;
	const valueOf = (id: string) => inputs.find((input) => input.id === id)?.default ?? '';
	const numberOf = (id: string, usual: string, range: Parameters<typeof number>[1]) => {
		const given = valueOf(id);
		try {
			return number(given.trim() === '' ? usual : given, range);
		} catch (error) {
			throw refusal(`'${id}' ${(error as Error).message}`);
		}
	};
	const wish = {
		/** Milliseconds to run. */
		duration: 1_000 * numberOf('seconds', '5', { most: mostSeconds }),
		/** How often the address is called, even after the call was taken, as careless templates do. */
		calls: numberOf('calls', '1', { least: 1, most: 10, whole: true }),
		/** What it calls its JSON, as careless templates do. */
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

/** `URL` has made 127.1 into 127.0.0.1. No other name is looked up: it may lead anywhere. */
function isOnLoopback({ protocol, hostname }: URL): boolean {
	return protocol === 'http:' && /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(hostname);
}

function refusal(what: string): Refusal {
	return new Refusal(400, 'bad_request', `body/job/inputs: ${what}`);
}
