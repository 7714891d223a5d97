import { changeState } from './changeState';

export const resume = changeState('resume', 'Continue a suspended job');
