import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { mayRetry } from '../../nodes/JobOrchestration/service/request/retryPolicy';
import { statusFailure as after } from '../faults/statusFailure';

/*
 * What docs/retry-without-doubling.md says of the statuses after which something is sent again.
 */

const page = readFileSync(join(__dirname, '../../docs/retry-without-doubling.md'), 'utf8');

const statuses = Array.from({ length: 200 }, (_, n) => 400 + n);

test('lists and state changes are sent again after these, and no others', () => {
	const [, list = ''] = /and the statuses ([\d, and]+)\./.exec(page) ?? [];
	const named = list.match(/\d+/g)?.map(Number);
	expect(named).toEqual(statuses.filter((status) => mayRetry(after(status), { idempotent: true })));
});

test('a create is sent again after a 429, and after a 503 that says when to come back', () => {
	expect(page).toContain('the service turned it away (429, or 503 with `Retry-After`)');
	const call = { idempotent: false };
	expect(statuses.filter((status) => mayRetry(after(status), call))).toEqual([429]);
	expect(statuses.filter((status) => mayRetry(after(status, 0), call))).toEqual([429, 503]);
});
