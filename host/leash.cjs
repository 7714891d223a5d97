// Loaded into n8n before anything else (`node --require`): ends it when the process that started it
// is gone, however that came about. The two are connected by Node's IPC channel, which the system
// closes.
process.once('disconnect', () => process.kill(process.pid, 'SIGTERM'));
process.channel?.unref();
