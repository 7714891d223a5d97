import type { IDataObject } from 'n8n-workflow';

import type { Target, Task } from '../case';
import type { WorkflowNode } from '../engine/run';
import { PLAIN_CREDENTIAL } from '../engine/plainCredential';
import { handWritten } from './handWritten';
import { bodyFor, createPath } from './job';

/** Returns a node that does as little as possible: it sends one request with n8n's helper and a plain credential. */
export function threeLines(_: Task, target: Target): WorkflowNode {
	return handWritten(
		{ displayName: '=Report {{ $json.n }}' },
		async function () {
			const body = bodyFor(String(this.getNodeParameter('displayName', 0)));
			const options = { method: 'POST', url: target.url + createPath, body, json: true } as const;
			const { httpRequestWithAuthentication: send } = this.helpers;
			const json = (await send.call(this, PLAIN_CREDENTIAL, options)) as IDataObject;
			return [[{ json, pairedItem: { item: 0 } }]];
		},
		PLAIN_CREDENTIAL,
	);
}
