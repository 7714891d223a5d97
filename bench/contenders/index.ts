import type { Task } from '../case';
import type { Flow } from '../engine/flow';
import type { Target } from '../service/messages';
import { bareHelper } from './bareHelper';
import { httpRequest, httpRequestInBatches, httpRequestPlain, loopWithWait } from './httpRequest';
import type { ContenderName } from './names';
import { oneAtATime } from './oneAtATime';
import { thisNode } from './thisNode';

/** The workflow by which each contender does a task at a service. */
export const contenders: Record<ContenderName, (task: Task, target: Target) => Flow> = {
	thisNode: (task) => thisNode(task),
	tenAtOnce: (task) => thisNode(task, 10),
	oneAtATime,
	httpRequest,
	httpRequestPlain,
	httpRequestInBatches,
	loopWithWait,
	bareHelper: bareHelper('Report'),
	bareHelperWithExpression: bareHelper('=Report {{ $json.n }}'),
};
