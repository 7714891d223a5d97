import { changeState } from './changeState';

export const suspend = changeState({
	value: 'suspend',
	name: 'Suspend',
	action: 'Suspend job',
	description: 'Pause a job so that it can be resumed later',
});
