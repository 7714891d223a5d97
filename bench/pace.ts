import { runMain } from './main';
import { cases } from './pace/cases';
import { cellOf } from './report/columns';
import { table } from './report/table';
import { runBench } from './runner/commandLine';
import type { Measured } from './runner/runner';

/** The services that the HTTP Request node was measured at in batches. */
function summaryOf(measured: Measured[]): string {
	return table(
		['The service', 'this node, s', 'failed', 'may exist', 'in batches, s', 'failed'],
		measured
			.filter(({ of: { contenders } }) => contenders.includes('httpRequestInBatches'))
			.map((one) => [
				one.of.title,
				cellOf(one, 'thisNode', 'seconds'),
				cellOf(one, 'thisNode', 'failed'),
				cellOf(one, 'thisNode', 'may exist'),
				cellOf(one, 'httpRequestInBatches', 'seconds'),
				cellOf(one, 'httpRequestInBatches', 'failed'),
			]),
	);
}

runMain(async () => {
	await runBench({
		command: 'npm run bench:pace',
		about:
			'Measures how this node finds the pace of a service, beside what n8n has for it: half an hour.',
		cases,
		columns: [
			'seconds',
			'× at best',
			'this node is',
			'failed',
			'may exist',
			'turned away',
			'at once at most',
			'others created',
			'loop delay p99 ms',
		],
		summaryOf,
	});
});
