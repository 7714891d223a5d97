// n8n loads this file before all others (`node --require`). Once a minute, n8n looks for executions whose wait is over
// (see its wait-tracker.js). With this file, it looks each second.
const { setInterval } = globalThis;
globalThis.setInterval = (callback, intervalMs, ...args) =>
	setInterval(callback, intervalMs === 60_000 ? 1_000 : intervalMs, ...args);
