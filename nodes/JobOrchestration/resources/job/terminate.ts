import { changeState } from './changeState';

export const terminate = changeState({
	value: 'terminate',
	name: 'Terminate',
	action: 'Terminate a job',
	description:
		'End a job with the verb "terminate". The service decides how it differs from "stop".',
});
