// n8n loads this file before all others (`node --require`). The file ends n8n when the process that started n8n has
// ended for any reason, even if it was killed: the operating system then closes Node's IPC channel between the two.
process.once('disconnect', () => process.kill(process.pid, 'SIGTERM'));
process.channel?.unref();
