// n8n loads this file before all others (`node --require`). Once a minute, n8n looks for executions whose wait is over
// (see its wait-tracker.js). With this file, it looks as often as the environment variable says.
const { setInterval } = globalThis;
const { LOOKS_EVERY_MS } = process.env;
globalThis.setInterval = (callback, intervalMs, ...args) =>
	setInterval(callback, intervalMs === 60_000 ? Number(LOOKS_EVERY_MS) : intervalMs, ...args);
