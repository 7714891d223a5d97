import { changeState } from './changeState';

export const stop = changeState({
	value: 'stop',
	name: 'Stop',
	action: 'Stop a job',
	description:
		'End a job by the verb stop. How that differs from terminate is for the service to say.',
});
