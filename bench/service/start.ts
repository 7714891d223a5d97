import type { Service } from '../case';
import { ask, startProcess } from '../runner/childProcess';
import type { Opened } from './messages';
import { startNginx } from './nginx';

const LONGEST_SECONDS = 30;

/** Starts a service in a new process, with its nginx if it has one, until it is no longer used. */
export async function withService<Result>(
	service: Service,
	node: string,
	use: (opened: Opened) => Promise<Result>,
): Promise<Result> {
	const child = startProcess('service/process.ts', node);
	let stopNginx: (() => Promise<void>) | undefined;
	try {
		const opened = await ask<Opened>(child, service, LONGEST_SECONDS);
		if (service.nginx !== undefined) {
			const { url, stop } = await startNginx(opened.measured.url, service.nginx);
			[opened.measured.url, stopNginx] = [url, stop];
		}
		return await use(opened);
	} finally {
		await stopNginx?.();
		child.kill();
	}
}
