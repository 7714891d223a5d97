// Loads the built package once, as n8n does when it starts, in a process that has n8n's own parts already.
// Plain JavaScript: what translates TypeScript on the fly would be measured along.
const { join } = require('node:path');

require('n8n-workflow');

process.on('message', ({ files }) => {
	globalThis.gc();
	const heapBefore = process.memoryUsage().heapUsed;
	const startedAt = performance.now();

	for (const file of files) {
		const [type] = Object.values(require(join(process.cwd(), file)));
		new type();
	}

	const time = performance.now() - startedAt;
	globalThis.gc();
	const memory = process.memoryUsage().heapUsed - heapBefore;
	process.send({ time, memory }, () => process.exit());
});
