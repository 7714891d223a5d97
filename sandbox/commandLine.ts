import { parseArgs } from 'node:util';

import { demoUser, type SandboxOptions } from './options';

/** The port that is tried first when none is asked for. */
export const usualPort = 8480;

export const help = `Starts a local job orchestration service to try the node on. It keeps everything in memory.

  npm run sandbox -- [options]

  --port <number>            the port on loopback (${usualPort}, or the next one that is free)
  --clusters <number>        how many work clusters there are (6)
  --token-lifetime <seconds> until a token expires (3600)
  --job-duration <seconds>   until a job has succeeded (60)
  --latency <milliseconds>   that every answer is held back (0)
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
			'job-duration': { type: 'string' },
			latency: { type: 'string' },
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
	if (values['job-duration'] !== undefined) {
		options.jobDuration = number('--job-duration', values['job-duration']) * 1000;
	}
	if (values.latency !== undefined) options.latency = number('--latency', values.latency);
	if (values.user !== undefined) options.userName = values.user;
	if (values.password !== undefined) options.password = values.password;
	return { kind: 'start', options };
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
