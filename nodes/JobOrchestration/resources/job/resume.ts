import { changeState } from './changeState';

export const resume = changeState({
	value: 'resume',
	name: 'Resume',
	action: 'Resume job',
	description: 'Continue a suspended job',
});
