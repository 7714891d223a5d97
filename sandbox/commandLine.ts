import { parseArgs } from 'node:util';

import { number } from './number';
import { demoUser, type SandboxOptions } from './options';
import { expiries, type Expiry } from './service/expiry';

/** The port that is tried first when none is asked for. */
export const usualPort = 8480;

export const help = `Starts a local job orchestration service to try the node on. It keeps everything in memory.

  npm run sandbox -- [options]

  --port <number>            the port on loopback (${usualPort}, or the next one that is free)
  --clusters <number>        how many work clusters there are (6)
  --max-page-size <number>   how many of them a page holds; to ask for more is refused
                             (1000, and a larger page is cut)
  --page-numbers             makes a page's token its number
  --empty-lists-omitted      leaves out of a list what is empty
  --token-lifetime <seconds> until a token expires (3600)
  --expired-as <how>         how it tells that: ${expiries.slice(0, 5).join(', ')}, ${expiries[5]},
                             ${expiries.slice(6).join(', ')} (401)
  --one-session              makes each login end the token of the one before
  --job-duration <seconds>   until a job has succeeded (600)
  --latency <milliseconds>   how long each answer is held back (0)
  --per-second <number>      how many calls it accepts in a second (any number)
  --burst <number>           how many of them may come at once (those of a second)
  --too-many <status>        how the others are answered: 429 or 503 (429)
  --retry-after <seconds>    how long they are told to wait (not sent)
  --at-once <number>         how many calls it works on at once; the others wait (any number)
  --user <name>              the user that may log in (${demoUser.userName})
  --password <password>      that user's password (${demoUser.password})
  --help                     shows this
`;

/** What comes of each flag. */
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
 * Reads the command line.
 * @returns undefined where it asks for help
 * @throws Error that says what is wrong with it
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
