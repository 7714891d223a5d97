// n8n's engine logs every error that ends a run: the tests look at the errors themselves.
process.env.N8N_LOG_LEVEL ??= 'silent';
