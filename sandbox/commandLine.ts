import { parseArgs } from 'node:util';

import type { LimitOptions } from './limits/limits';
import { demoUser, type SandboxOptions } from './options';

/** The port that is tried first when none is asked for. */
export const usualPort = 8480;

export const help = `Starts a local job orchestration service to try the node on. It keeps everything in memory.

  npm run sandbox -- [options]

  --port <number>            the port on loopback (${usualPort}, or the next one that is free)
  --clusters <number>        how many work clusters there are (6)
  --token-lifetime <seconds> until a token expires (3600)
  --one-session              makes each log-in end the token of the one before
  --job-duration <seconds>   until a job has succeeded (600)
  --latency <milliseconds>   how long each answer is held back (0)
  --per-second <number>      accepts so many calls a second (any number)
  --burst <number>           accepts so many of them in a burst (as many as in a second)
  --too-many <status>        how the others are answered: 429 or 503 (429)
  --retry-after <seconds>    how long they are told to wait (not said)
  --at-once <number>         works on so many calls at once; the others wait (any number)
  --user <name>              the user that may log in (${demoUser.userName})
  --password <password>      that user's password (${demoUser.password})
  --help                     shows this
`;

/** What the command line asked for. */
export type Command = { kind: 'help' } | { kind: 'start'; options: SandboxOptions };

/**
 * Reads the command line.
 * @throws Error that says what is wrong with it
 */
export function readCommandLine(args: string[]): Command {
	const { values } = parseArgs({
		args,
		options: {
			port: { type: 'string' },
			clusters: { type: 'string' },
			'token-lifetime': { type: 'string' },
			'one-session': { type: 'boolean' },
			'job-duration': { type: 'string' },
			latency: { type: 'string' },
			'per-second': { type: 'string' },
			burst: { type: 'string' },
			'too-many': { type: 'string' },
			'retry-after': { type: 'string' },
			'at-once': { type: 'string' },
			user: { type: 'string' },
			password: { type: 'string' },
			help: { type: 'boolean' },
		},
	});
	if (values.help === true) return { kind: 'help' };

	const options: SandboxOptions = { recordCalls: false };
	if (values.port !== undefined) options.port = wholeNumber('--port', values.port, 65_535);
	if (values.clusters !== undefined) {
		options.clusters = wholeNumber('--clusters', values.clusters, 1e9);
	}
	if (values['token-lifetime'] !== undefined) {
		options.tokenLifetime = number('--token-lifetime', values['token-lifetime']);
	}
	if (values['one-session'] === true) options.oneSession = true;
	if (values['job-duration'] !== undefined) {
		options.jobDuration = number('--job-duration', values['job-duration']) * 1000;
	}
	if (values.latency !== undefined) options.latency = number('--latency', values.latency);
	const limits = limitsFrom(values);
	if (Object.keys(limits).length > 0) options.limits = limits;
	if (values.user !== undefined) options.userName = values.user;
	if (values.password !== undefined) options.password = values.password;
	return { kind: 'start', options };
}

function limitsFrom(values: Partial<Record<string, string | boolean>>): LimitOptions {
	const limits: LimitOptions = {};
	const given = (name: string) => (values[name] === undefined ? undefined : String(values[name]));
	const perSecond = given('per-second');
	const burst = given('burst');
	const tooMany = given('too-many');
	const retryAfter = given('retry-after');
	const atOnce = given('at-once');
	if (perSecond !== undefined) limits.perSecond = positive('--per-second', perSecond);
	if (burst !== undefined) limits.burst = atLeastOne('--burst', burst);
	if (tooMany === '429' || tooMany === '503') limits.tooMany = tooMany === '429' ? 429 : 503;
	else if (tooMany !== undefined) {
		throw new Error(`--too-many must be 429 or 503, not '${tooMany}'`);
	}
	if (retryAfter !== undefined) {
		limits.retryAfter = wholeNumber('--retry-after', retryAfter, 86_400);
	}
	if (atOnce !== undefined) limits.atOnce = atLeastOne('--at-once', atOnce);
	return limits;
}

function positive(flag: string, text: string): number {
	const value = number(flag, text);
	if (value === 0) throw new Error(`${flag} must be more than 0`);
	return value;
}

function atLeastOne(flag: string, text: string): number {
	const value = wholeNumber(flag, text, 1e9);
	if (value === 0) throw new Error(`${flag} must be at least 1`);
	return value;
}

function number(flag: string, text: string): number {
	const value = text.trim() === '' ? NaN : Number(text);
	if (!Number.isFinite(value) || value < 0) {
		throw new Error(`${flag} must be a number from 0, not '${text}'`);
	}
	return value;
}

function wholeNumber(flag: string, text: string, most: number): number {
	const value = number(flag, text);
	if (!Number.isInteger(value) || value > most) {
		throw new Error(`${flag} must be a whole number from 0 to ${most}, not '${text}'`);
	}
	return value;
}
