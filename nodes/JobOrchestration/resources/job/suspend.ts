import { changeState } from './changeState';

export const suspend = changeState('suspend', 'Pause a job so that it can be resumed later');
