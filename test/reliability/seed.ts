import fc from 'fast-check';
import type { OnError } from 'n8n-workflow';

/*
 * Property tests use the same seed each time, so that a failure is caused by the current change and can be reproduced.
 * Each night, nightly.yml uses another seed. Add a separate test for each failure that it finds. `RUNS=1000 npx jest
 * test/reliability/anyRun.test.ts` makes more runs than usual.
 */
export const SEED = Number(process.env.SEED ?? 1);
fc.configureGlobal({ seed: SEED, numRuns: Number(process.env.RUNS ?? 30) });

/** The values of n8n's setting "On Error". */
export const onErrors: OnError[] = ['stopWorkflow', 'continueRegularOutput', 'continueErrorOutput'];

/** Any text, also with half a character. The library's own needs seconds to list all characters. */
export const anyText = (maxLength: number) =>
	fc
		.array(fc.integer({ min: 0, max: 0x10ffff }), { maxLength })
		.map((codes) => String.fromCodePoint(...codes));
