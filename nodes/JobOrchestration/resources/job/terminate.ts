import { changeState } from './changeState';

export const terminate = changeState({
	value: 'terminate',
	name: 'Terminate',
	action: 'Terminate job',
	description:
		'End a job by sending "terminate". How this differs from "stop" is up to the service.',
});
