import type { ContenderName } from '../contenders';
import type { Task } from '../contenders/contender';
import type { Target } from '../sandbox/messages';

/** What the benchmark asks the process of a contender. */
export interface Request {
	contender: ContenderName;
	task: Task;
	measured: Target;
	warmUp: Target;
	/** Whether to find out how much of the memory is in use: that slows the task down. */
	watchHeap: boolean;
	/** A file for a profile of the processor; none is made without. */
	profile?: string;
}

/** What a task cost the process that did it. */
export interface Cost {
	/** How many jobs or clusters came out. */
	results: number;
	/** Milliseconds, as all times here. */
	elapsed: number;
	/** Processor time, of all threads. */
	cpu: number;
	/** How late timers of one millisecond came, in the worst of a hundred cases. */
	delayP99: number;
	/** How late the latest of them came. */
	delayMax: number;
	/** How much memory the process took more than before, at its peak. Bytes, as all sizes here. */
	peakMemory: number;
	/** How much of the heap was in use more than before when the task was done and its result still held. */
	resultMemory: number;
	/** How much of it was in use more than before, at the most; undefined where it was not watched. */
	peakInUse?: number;
}
