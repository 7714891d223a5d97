import { join } from 'node:path';
import { parseArgs } from 'node:util';

import { runMain } from './main';
import { writeBetweenMarks } from './report/document';
import { measuredOn } from './report/machine';
import { ROOT } from './runner/childProcess';
import { measure } from './scaling/measure';
import { measuredTables, neededTable } from './scaling/report';

const help = `Measures an n8n in queue mode on this machine, with one worker, two and four, and calculates what
more workers would hold. Needs Debian's Redis and PostgreSQL. Nothing else should run at the same time.

  npm run scaling              about five minutes
  npm run scaling -- --write   writes how many workers it takes into docs/performance.md
`;

runMain(async () => {
	const { values } = parseArgs({
		options: {
			write: { type: 'boolean', default: false },
			help: { type: 'boolean', default: false },
		},
	});
	if (values.help) {
		process.stdout.write(help);
		return;
	}
	const figures = await measure((text) => process.stdout.write(`${text}\n`));
	const [machine, needed] = [await measuredOn(), neededTable(figures)];
	process.stdout.write(`\n${machine}\n\n${measuredTables(figures)}\n\n${needed}\n`);
	const page = join(ROOT, 'docs', 'performance.md');
	if (values.write) await writeBetweenMarks(page, 'npm run scaling', needed);
});
