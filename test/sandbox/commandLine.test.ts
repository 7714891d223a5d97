import { help, readCommandLine } from '../../sandbox/commandLine';

it('Every flag of the command line becomes an option', () => {
	const flags =
		'--port 9000 --clusters 100000 --token-lifetime 2 --one-session --job-duration 1.5 --latency 20 --user ann --password secret';
	expect(readCommandLine(flags.split(' '))).toEqual({
		kind: 'start',
		options: {
			recordCalls: false,
			port: 9000,
			clusters: 100_000,
			tokenLifetime: 2,
			oneSession: true,
			jobDuration: 1500,
			latency: 20,
			userName: 'ann',
			password: 'secret',
		},
	});
});

it('Every flag of a limit becomes a limit', () => {
	const flags = '--per-second 2.5 --burst 1 --too-many 503 --retry-after 2 --at-once 4';
	expect(readCommandLine(flags.split(' '))).toEqual({
		kind: 'start',
		options: {
			recordCalls: false,
			limits: { perSecond: 2.5, burst: 1, tooMany: 503, retryAfter: 2, atOnce: 4 },
		},
	});
});

it('Without a flag nothing is asked for', () => {
	expect(readCommandLine([])).toEqual({ kind: 'start', options: { recordCalls: false } });
});

it('Help is shown instead of starting, and names every flag', () => {
	expect(readCommandLine(['--help'])).toEqual({ kind: 'help' });
	for (const flag of [
		'port',
		'clusters',
		'token-lifetime',
		'one-session',
		'job-duration',
		'latency',
		'per-second',
		'burst',
		'too-many',
		'retry-after',
		'at-once',
		'user',
		'password',
	]) {
		expect(help).toContain(`--${flag} `);
	}
});

it.each([
	[['--port', 'x'], "--port must be a number from 0, not 'x'"],
	[['--port', '70000'], "--port must be a whole number from 0 to 65535, not '70000'"],
	[['--clusters', '2.5'], '--clusters must be a whole number'],
	[['--latency', ''], '--latency must be a number'],
	[['--latency=-1'], '--latency must be a number from 0'],
	[['--per-second', '0'], '--per-second must be more than 0'],
	[['--too-many', '500'], "--too-many must be 429 or 503, not '500'"],
	[['--at-once', '0'], '--at-once must be at least 1'],
	[['--colour', 'red'], '--colour'],
])('%j is refused, and the message names the flag', (args, message) => {
	expect(() => readCommandLine(args)).toThrow(message);
});
