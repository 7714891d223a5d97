// n8n's engine logs every error that ends a run. The tests check the errors themselves, so the log is only noise.
process.env.N8N_LOG_LEVEL ??= 'silent';
