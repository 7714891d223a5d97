import type { Task } from '../case';
import type { ContenderName } from '../contenders/names';
import type { Opened } from '../service/messages';
import type { Cost } from './measure';
import type { SentFigures } from './sent';

/** What the process of a contender is asked to do. */
export interface Request extends Opened {
	contender: ContenderName;
	task: Task;
	/** After this time it reports what has been done until then. */
	longestSeconds: number;
}

/** What that cost, and what came of it. */
export interface Sample extends Cost, SentFigures {
	/** Jobs or clusters; undefined if it took too long. */
	results?: number;
	/** Items that ended as errors, and how many of those say that their job may exist. */
	failed?: number;
	mayExist?: number;
}
