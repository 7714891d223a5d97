import { bareHelper, bareHelperWithExpression } from './bareHelper';
import type { Contender } from './contender';
import { generatedNode } from './generatedNode';
import { httpRequestWithOurs, httpRequestWithPlain } from './httpRequestNode';
import { keepAlive } from './keepAlive';
import { oneAtATime } from './oneAtATime';
import { thisNode, thisNodeFixed } from './thisNode';

/** All of them, in the order of the tables. */
export const contenderNames = [
	'thisNode',
	'thisNodeFixed',
	'httpRequestWithOurs',
	'httpRequestWithPlain',
	'generatedNode',
	'oneAtATime',
	'bareHelper',
	'bareHelperWithExpression',
	'keepAlive',
] as const;

export type ContenderName = (typeof contenderNames)[number];

export const contenders: Record<ContenderName, Contender> = {
	thisNode,
	thisNodeFixed,
	httpRequestWithOurs,
	httpRequestWithPlain,
	generatedNode,
	oneAtATime,
	bareHelper,
	bareHelperWithExpression,
	keepAlive,
};
