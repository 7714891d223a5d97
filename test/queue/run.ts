import { run } from 'jest';

/*
 * npm run test:queue          what is quick enough for every time
 * npm run test:queue -- all   also the deaths that take longer, and four workers: about ten minutes more
 *
 * Whatever else is given is passed on to jest.
 */
const args = process.argv.slice(2);
if (args.includes('all')) process.env['QUEUE_TESTS'] = 'all';
void run(['--config', 'test/queue/jest.config.js', ...args.filter((arg) => arg !== 'all')]);
