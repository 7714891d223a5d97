import { changeState } from './changeState';

export const terminate = changeState(
	'terminate',
	'End a job by sending "terminate". How this differs from "stop" is up to the service.',
);
