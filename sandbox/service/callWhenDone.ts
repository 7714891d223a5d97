import type { NewJob } from '../messages';
import { Refusal } from './refusal';

/** The one workflow template that does something: its job calls an address when it has succeeded. */
const workflowUid = 'call-when-done';

/** The input that holds the address. */
const urlInput = 'callbackUrl';

/** The input with the seconds that the job runs, and their default. */
const secondsInput = 'seconds';
const usualSeconds = 5;

/** The inputs with how often it calls in all, and with what content type: what careless templates do. */
const callsInput = 'calls';
const contentTypeInput = 'contentType';
const mostCalls = 10;

/** The longest that such a job can run, a day. */
const mostSeconds = 86_400;

/** What a job asks for, if it is one of the template. */
export interface Wish {
	/** On loopback. */
	url: URL;
	/** Milliseconds to run. */
	duration: number;
	/** How often the address is called, even after the call was taken. */
	calls: number;
	contentType: string;
}

/**
 * What a job asks for, if it is one of the template.
 * @returns undefined for a job of any other template
 * @throws Refusal 400, when its inputs can't be followed; so where the address isn't on loopback
 */
export function wishOf({ workflow, inputs = [] }: NewJob): Wish | undefined {
	if (workflow.uid !== workflowUid) return undefined;
	const valueOf = (id: string) => inputs.find((input) => input.id === id)?.default;

	const seconds = Number(valueOf(secondsInput)?.trim() || usualSeconds);
	if (!(seconds >= 0 && seconds <= mostSeconds)) {
		const given = valueOf(secondsInput);
		throw refusal(`'${secondsInput}' must be a number from 0 to ${mostSeconds}, not '${given}'`);
	}
	const calls = Number(valueOf(callsInput)?.trim() || 1);
	if (!(Number.isInteger(calls) && calls >= 1 && calls <= mostCalls)) {
		const given = valueOf(callsInput);
		throw refusal(`'${callsInput}' must be a whole number from 1 to ${mostCalls}, not '${given}'`);
	}
	const contentType = valueOf(contentTypeInput)?.trim() || 'application/json';
	const address = valueOf(urlInput) ?? '';
	const url = URL.canParse(address) ? new URL(address) : undefined;
	if (url && isOnLoopback(url)) return { url, duration: seconds * 1000, calls, contentType };
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
