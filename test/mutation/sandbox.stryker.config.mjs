import base from '../../stryker.config.json' with { type: 'json' };

/** The sandbox's checks of each message, and the words in which it says what is wrong with one. */
export default {
	...base,
	mutate: ['sandbox/contract/*.ts', 'sandbox/messages.ts'],
	jest: { ...base.jest, configFile: 'test/mutation/sandbox.jest.config.js' },
	incrementalFile: 'reports/stryker-incremental-sandbox.json',
};
