const { join } = require('node:path');

/** Finds the snapshots of form.test.ts, which is a part of all.test.ts here. */
module.exports = {
	resolveSnapshotPath: () => join(__dirname, '../node/__snapshots__/form.test.ts.snap'),
	resolveTestPath: () => join(__dirname, 'all.test.ts'),
	testPathForConsistencyCheck: join(__dirname, 'all.test.ts'),
};
