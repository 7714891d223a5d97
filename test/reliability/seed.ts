import fc from 'fast-check';

/*
 * Property tests use the same seed each time, so that a failure is caused by the current change and can be reproduced.
 * Each night, nightly.yml uses another seed. Add a separate test for each failure that it finds.
 */
export const SEED = Number(process.env.SEED ?? 1);
fc.configureGlobal({ seed: SEED });
