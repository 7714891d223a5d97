import { help, readCommandLine } from '../../sandbox/commandLine';

it.each([
	['--port 9000', { port: 9000 }],
	['--clusters 100000', { clusters: 100_000 }],
	['--token-lifetime 2', { tokenLifetime: 2 }],
	['--one-session', { oneSession: true }],
	['--job-duration 1.5', { jobDuration: 1500 }],
	['--latency 20', { latency: 20 }],
	['--user ann', { userName: 'ann' }],
	['--password secret', { password: 'secret' }],
	['--per-second 2.5', { limits: { perSecond: 2.5 } }],
	['--too-many 503', { limits: { tooMany: 503 } }],
	['--burst 1 --retry-after 2', { limits: { burst: 1, retryAfter: 2 } }],
	['--latency 0 --at-once 4', { latency: 0, limits: { atOnce: 4 } }],
])('%s becomes %j, and the help names it', (flags, options) => {
	expect(readCommandLine(flags.split(' '))).toEqual({ recordCalls: false, ...options });
	for (const [flag] of flags.matchAll(/--[\w-]+/g)) expect(help).toContain(`  ${flag} `);
});

it('Without a flag nothing is asked for, and --help is shown instead of starting', () => {
	expect(readCommandLine([])).toEqual({ recordCalls: false });
	expect(readCommandLine(['--help'])).toBeUndefined();
});

it.each([
	['--port=x', "--port must be a whole number from 0 to 65535, not 'x'"],
	['--port=70000', "--port must be a whole number from 0 to 65535, not '70000'"],
	['--clusters=2.5', '--clusters must be a whole number'],
	['--latency=', '--latency must be a number'],
	['--latency=-1', '--latency must be a number from 0'],
	['--per-second=0', '--per-second must be a number from 0.001'],
	['--too-many=500', "--too-many must be 429 or 503, not '500'"],
	['--at-once=0', '--at-once must be a whole number from 1'],
	['--colour=red', '--colour'],
])('%s is refused, and the message names the flag', (flag, message) => {
	expect(() => readCommandLine([flag])).toThrow(message);
});
