import { help, readCommandLine } from '../../sandbox/commandLine';

it('Every flag of the command line becomes an option', () => {
	const flags =
		'--port 9000 --clusters 100000 --token-lifetime 2 --job-duration 1.5 --latency 20 --user ann --password secret';
	expect(readCommandLine(flags.split(' '))).toEqual({
		kind: 'start',
		options: {
			recordCalls: false,
			port: 9000,
			clusters: 100_000,
			tokenLifetime: 2,
			jobDuration: 1500,
			latency: 20,
			userName: 'ann',
			password: 'secret',
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
		'job-duration',
		'latency',
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
	[['--colour', 'red'], '--colour'],
])('%j is refused, and the message names the flag', (args, message) => {
	expect(() => readCommandLine(args)).toThrow(message);
});
