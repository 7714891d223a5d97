import { changeState } from './changeState';

export const stop = changeState({
	value: 'stop',
	name: 'Stop',
	action: 'Stop a job',
	description:
		'End a job with the verb "stop". The service decides how it differs from "terminate".',
});
