import { changeState } from './changeState';

export const terminate = changeState({
	value: 'terminate',
	name: 'Terminate',
	action: 'Terminate a job',
	description: 'End a job at once',
});
