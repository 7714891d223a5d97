import { changeState } from './changeState';

export const terminate = changeState({
	value: 'terminate',
	name: 'Terminate',
	action: 'Terminate a job',
	description:
		'End a job by the verb terminate. How that differs from stop is for the service to say.',
});
