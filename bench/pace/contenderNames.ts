/** Who makes the jobs, and what the table calls it. */
export const contenders = {
	thisNode: '**this node**',
	tenAtOnce: 'this node, Concurrency 10',
	httpRequest: 'HTTP Request node',
	httpRequestInBatches: 'HTTP Request node in batches',
	loopWithWait: 'HTTP Request node, Loop and Wait',
} as const;

export type ContenderName = keyof typeof contenders;

/** Whether it is the node of this package: others need an n8n. */
export const isOwn = (name: ContenderName) => name === 'thisNode' || name === 'tenAtOnce';
