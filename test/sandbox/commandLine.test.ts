import { help, readCommandLine } from '../../sandbox/commandLine';

it('The flags become options, and the help names each', () => {
	const flags =
		'--port 9000 --clusters 100000 --token-lifetime 2 --one-session --job-duration 1.5 --latency 0 --user ann --password secret --per-second 2.5 --burst 1 --too-many 503 --retry-after 2 --at-once 4';
	expect(readCommandLine(flags.split(' '))).toEqual({
		...{ recordCalls: false, port: 9000, clusters: 100_000, tokenLifetime: 2, oneSession: true },
		...{ jobDuration: 1500, latency: 0, userName: 'ann', password: 'secret' },
		limits: { perSecond: 2.5, burst: 1, tooMany: 503, retryAfter: 2, atOnce: 4 },
	});
	for (const [flag] of flags.matchAll(/--[\w-]+/g)) expect(help).toContain(`  ${flag} `);
	expect(readCommandLine([])).toEqual({ recordCalls: false });
	expect(readCommandLine(['--help'])).toBeUndefined();
});

it.each([
	['--port=70000', "--port must be a whole number from 0 to 65535, not '70000'"],
	['--clusters=2.5', '--clusters must be a whole number'],
	['--latency=', '--latency must be a number'],
	['--per-second=0', '--per-second must be a number from 0.001'],
	['--too-many=500', "--too-many must be 429 or 503, not '500'"],
	['--colour=red', '--colour'],
])('%s is refused, and the message names the flag', (flag, message) => {
	expect(() => readCommandLine([flag])).toThrow(message);
});
