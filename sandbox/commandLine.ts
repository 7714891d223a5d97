import { parseArgs } from 'node:util';

import { number } from './number';
import { demoUser, type SandboxOptions } from './options';
import { expiries, type Expiry } from './service/expiry';

/** The first port to try if `--port` isn't given. */
export const usualPort = 8480;

export const help = `Starts a local job orchestration service to try the node on. It keeps everything in memory.

  npm run sandbox -- [options]

  --port <number>            the port on loopback (${usualPort}, or the next one that is free)
  --clusters <number>        the number of work clusters (6)
  --max-page-size <number>   the most clusters on a page; a request for more is refused with a 400
                             (1000; if the option isn't given, such a request gets 1000 instead)
  --page-numbers             uses page numbers as continue tokens
  --empty-lists-omitted      omits the fields items and metadata of a list if they are empty
  --token-lifetime <seconds> how long an access token is valid (3600)
  --expired-as <how>         the response to an invalid token: ${expiries.slice(0, 5).join(', ')},
                             ${expiries.slice(5).join(', ')} (401)
  --one-session              makes each login end the token of the previous login
  --job-duration <seconds>   how long a job runs until it has succeeded (600)
  --latency <milliseconds>   the delay of each response (0)
  --per-second <number>      how many calls are accepted per second (any number)
  --burst <number>           how many of these calls may arrive at once (the number per second)
  --too-many <status>        the status of the response to the other calls: 429 or 503 (429)
  --retry-after <seconds>    the Retry-After of this response (none)
  --at-once <number>         how many calls are processed at once; the others wait (any number)
  --user <name>              the user that may log in (${demoUser.userName})
  --password <password>      that user's password (${demoUser.password})
  --help                     shows this
`;

/** For each flag, a function that converts its value to options. */
const flags: Record<string, (text: string) => SandboxOptions> = {
	port: (text) => ({ port: number(text, { most: 65_535, whole: true }) }),
	clusters: (text) => ({ clusters: number(text, { most: 1e9, whole: true }) }),
	'max-page-size': (text) => ({
		maxPageSize: number(text, { least: 1, whole: true }),
		refuseLargerPages: true,
	}),
	'page-numbers': () => ({ pageNumbers: true }),
	'empty-lists-omitted': () => ({ emptyListsOmitted: true }),
	'token-lifetime': (text) => ({ tokenLifetime: number(text) }),
	'expired-as': (text) => ({ expiry: expiry(text) }),
	'one-session': () => ({ oneSession: true }),
	'job-duration': (text) => ({ jobDuration: number(text) * 1000 }),
	latency: (text) => ({ latency: number(text) }),
	'per-second': (text) => ({ limits: { perSecond: number(text, { least: 0.001 }) } }),
	burst: (text) => ({ limits: { burst: number(text, { least: 1, whole: true }) } }),
	'too-many': (text) => ({ limits: { tooMany: tooMany(text) } }),
	'retry-after': (text) => ({ limits: { retryAfter: number(text, { whole: true }) } }),
	'at-once': (text) => ({ limits: { atOnce: number(text, { least: 1, whole: true }) } }),
	user: (userName) => ({ userName }),
	password: (password) => ({ password }),
	help: () => ({}),
};
const flagsWithoutValue = ['one-session', 'page-numbers', 'empty-lists-omitted', 'help'];

/**
 * Parses the command line.
 * @returns the options, or undefined if `--help` is given
 * @throws Error whose message names the flag, and says what is wrong with its value
 */
export function readCommandLine(args: string[]): SandboxOptions | undefined {
	const known = Object.keys(flags).map((name) => {
		const type: 'boolean' | 'string' = flagsWithoutValue.includes(name) ? 'boolean' : 'string';
		return [name, { type }] as const;
	});
	const { values } = parseArgs({ args, options: Object.fromEntries(known) });
	if (values['help']) return undefined;

	let options: SandboxOptions = { recordCalls: false };
	for (const [name, value] of Object.entries(values)) {
		try {
			const { limits, ...others } = flags[name]?.(String(value)) ?? {};
			options = { ...options, ...others };
			if (limits) options.limits = { ...options.limits, ...limits };
		} catch (error) {
			throw new Error(`--${name} ${error instanceof Error ? error.message : String(error)}`);
		}
	}
	return options;
}

function tooMany(text: string): 429 | 503 {
	if (text === '429' || text === '503') return text === '429' ? 429 : 503;
	throw new Error(`must be 429 or 503, not '${text}'`);
}

function expiry(text: string): Expiry {
	const found = expiries.find((known) => known === text);
	if (found !== undefined) return found;
	throw new Error(`must be one of ${expiries.join(', ')}, not '${text}'`);
}
