import { parseArgs } from 'node:util';

import { number } from './number';
import type { SandboxOptions } from './options';

/** For each flag: its unit, its description with the default in parentheses, and how its value becomes an option. */
const flags: Record<string, [unit: string, about: string, read: (text: string) => SandboxOptions]> =
	{
		port: ['number', 'the port on loopback (8480)', (text) => ({ port: whole(text, 65_535) })],
		clusters: ['number', 'the number of work clusters (6)', (text) => ({ clusters: whole(text) })],
		'job-duration': [
			'seconds',
			'how long a job runs until it has succeeded (600)',
			(text) => ({ jobDuration: number(text) * 1000 }),
		],
		'token-lifetime': [
			'seconds',
			'how long an access token is valid (3600)',
			(text) => ({ tokenLifetime: number(text) }),
		],
		latency: ['ms', 'the delay of each response (0)', (text) => ({ latency: number(text) })],
		'per-second': [
			'number',
			'how many calls are accepted per second; the others get a 429 (any number)',
			(text) => ({ limits: { perSecond: number(text, { least: 0.001 }) } }),
		],
	};

const whole = (text: string, most?: number) => number(text, { whole: true, ...(most && { most }) });

const lines = Object.entries(flags).map(
	([name, [unit, about]]) => `  ${`--${name} <${unit}>`.padEnd(27)}${about}`,
);

export const help = `Starts a local job orchestration service to try the node on. It keeps everything in memory.

  npm run sandbox -- [options]

${lines.join('\n')}
  --help                     shows this
`;

/**
 * Parses the command line.
 * @returns the options, or undefined if `--help` is given
 * @throws Error whose message names the flag, and says what is wrong with its value
 */
export function readCommandLine(args: string[]): SandboxOptions | undefined {
	const known = Object.keys(flags).map((name) => [name, { type: 'string' }] as const);
	const options = { ...Object.fromEntries(known), help: { type: 'boolean' } } as const;
	const { help: wantsHelp, ...values } = parseArgs({ args, options }).values;
	if (wantsHelp) return undefined;
	const given = Object.entries(values).map(([name, value]) => {
		try {
			return flags[name]?.[2](String(value));
		} catch (error) {
			throw new Error(`--${name} ${(error as Error).message}`);
		}
	});
	return Object.assign({ port: 8480, recordCalls: false }, ...given) as SandboxOptions;
}
