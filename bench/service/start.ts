import type { Service } from '../case';
import { ask, startProcess } from '../runner/childProcess';
import type { Opened } from './messages';

const LONGEST_SECONDS = 30;

/** Starts a service in a new process until it is no longer used. */
export async function withService<Result>(
	service: Service,
	node: string,
	use: (opened: Opened) => Promise<Result>,
): Promise<Result> {
	const child = startProcess('service/process.ts', node);
	try {
		return await use(await ask<Opened>(child, service, LONGEST_SECONDS));
	} finally {
		child.kill();
	}
}
