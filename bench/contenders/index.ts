import type { Target, Task } from '../case';
import { PLAIN_CREDENTIAL } from '../engine/plainCredential';
import type { WorkflowNode } from '../engine/run';
import { bareHelper } from './bareHelper';
import { httpRequest, httpRequestPlain } from './httpRequest';
import type { ContenderName } from './names';
import { oneAtATime } from './oneAtATime';
import { thisNode } from './thisNode';
import { threeLines } from './threeLines';

/** For each contender, a function that returns the node that does a task. */
export const contenders: Record<ContenderName, (task: Task, target: Target) => WorkflowNode> = {
	thisNode,
	oneAtATime,
	httpRequest,
	httpRequestPlain,
	bareHelper: bareHelper('Report'),
	bareHelperWithExpression: bareHelper('=Report {{ $json.n }}'),
	bareHelperWithCredential: bareHelper('=Report {{ $json.n }}', PLAIN_CREDENTIAL),
	threeLines,
};
