import type { NewJob, Parameter } from '../messages';
import { Refusal } from './refusal';

/** The one workflow template that does something: its job calls an address when it has succeeded. */
const workflowUid = 'call-when-done';

/** The input that holds the address. */
const urlInput = 'callbackUrl';

/** The input that holds how many seconds the job runs, and how many it runs where there is none. */
const secondsInput = 'seconds';
const usualSeconds = 5;

/** The longest that such a job can run, a day. */
const mostSeconds = 86_400;

/** What a job of the template asks for. */
export interface Wish {
	/** An address on loopback. */
	url: URL;
	/** Milliseconds. */
	duration: number;
}

/**
 * What a job asks for, if it is one of the template.
 * @returns undefined for a job of any other template
 * @throws Refusal 400, when its inputs can't be followed; so where the address isn't on loopback
 */
export function wishOf({ workflow, inputs = [] }: NewJob): Wish | undefined {
	if (workflow.uid !== workflowUid) return undefined;
	const duration = secondsIn(valueOf(inputs, secondsInput)) * 1000;
	return { url: urlIn(valueOf(inputs, urlInput)), duration };
}

function valueOf(inputs: Parameter[], id: string): string | undefined {
	return inputs.find((input) => input.id === id)?.default;
}

function secondsIn(text: string | undefined): number {
	if (text === undefined || text.trim() === '') return usualSeconds;
	const seconds = Number(text);
	if (seconds >= 0 && seconds <= mostSeconds) return seconds;
	throw refusal(
		`input '${secondsInput}' must be a number of seconds from 0 to ${mostSeconds}, not '${text}'`,
	);
}

function urlIn(text: string | undefined): URL {
	if (text === undefined) {
		throw refusal(
			`workflow '${workflowUid}' needs an input '${urlInput}' with the address to call`,
		);
	}
	const url = URL.canParse(text) ? new URL(text) : undefined;
	if (url && isOnLoopback(url)) return url;
	throw refusal(
		`input '${urlInput}' must be an address on this machine, such as http://127.0.0.1:5678/…, not '${text}': ` +
			'the sandbox calls no other',
	);
}

/** A name other than localhost is not looked up: it may lead anywhere. `URL` has made 127.1 into 127.0.0.1. */
function isOnLoopback({ protocol, hostname }: URL): boolean {
	return protocol === 'http:' && /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(hostname);
}

function refusal(what: string): Refusal {
	return new Refusal(400, 'bad_request', `body.job.inputs: ${what}`);
}
