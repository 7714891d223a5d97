import { isJsonObject, type JsonObject } from '../../json';
import type { ServiceRequest } from '../request';
import { type List, listPage } from './lists';

/*
 * calls/ has the service's operations as data: what is sent, which response is expected, and what their errors say. They
 * are the calls of jobs (`jobs.ts`), the login (`login.ts`), and the lists, each of which is read page by page
 * (`lists.ts`). This file has the only list so far, that of the work clusters, and what else is requested as its shortest
 * page. Nothing here sends a request.
 */

/** The list of the work clusters. */
export const WORK_CLUSTERS: List = {
	path: '/api/v1/clusters',
	elements: 'clusters',
	fullName: 'work clusters',
};

/** Returns the type and the phase of a work cluster. Each is undefined unless it is a text. */
export function kindOf({ type, status }: JsonObject) {
	const phase = isJsonObject(status) ? status.phase : undefined;
	return {
		type: typeof type === 'string' ? type : undefined,
		phase: typeof phase === 'string' ? phase : undefined,
	};
}

/** A request that changes nothing. It shows whether the service answers and whether it accepts a token. */
export const HEALTH_CHECK: ServiceRequest<unknown> = {
	...listPage(WORK_CLUSTERS, { pageSize: 1, ifRefused: '' }),
	// Short enough that a failed request doesn't seem to hang.
	maxTimeoutMs: 10_000,
	// A health check that is refused is no failure: the service is there.
	errorTexts: () => ({ action: 'answer a health check', ifRefused: '' }),
};

/** The list that the test of a credential requests. Its errors follow the words "The login works, but". */
export const LIST_OF_TEST: ServiceRequest<unknown> = {
	...HEALTH_CHECK,
	errorTexts: () => ({
		action: 'list the work clusters',
		ifRefused:
			'Ask the administrator of the service why. Creating and changing jobs may still work.',
		rows: [
			[
				'403',
				"This user isn't allowed to list work clusters",
				'Creating and changing jobs may still work.',
			],
			[
				'404',
				'There is no list of work clusters at this address',
				"Check the 'Base URL': it is the part before /api/v1.",
			],
		],
	}),
};
