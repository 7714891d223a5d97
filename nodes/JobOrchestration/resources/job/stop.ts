import { changeState } from './changeState';

export const stop = changeState(
	'stop',
	'End a job by sending "stop". How this differs from "terminate" is up to the service.',
);
