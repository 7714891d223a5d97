import { changeState } from './changeState';

export const stop = changeState({
	value: 'stop',
	name: 'Stop',
	action: 'Stop job',
	description:
		'End a job by sending "stop". How this differs from "terminate" is up to the service.',
});
