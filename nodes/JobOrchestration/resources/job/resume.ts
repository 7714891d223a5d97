import { changeState } from './changeState';

export const resume = changeState({
	value: 'resume',
	name: 'Resume',
	action: 'Resume a job',
	description: 'Continue a suspended job',
});
