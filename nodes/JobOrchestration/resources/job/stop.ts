import { changeState } from './changeState';

export const stop = changeState({
	value: 'stop',
	name: 'Stop',
	action: 'Stop a job',
	description: 'End a job in an orderly way',
});
