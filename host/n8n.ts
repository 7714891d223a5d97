import { mkdir } from 'node:fs/promises';
import { delimiter, dirname, join } from 'node:path';

import { freePort, loopback } from './ports';
import { runCommand, startServer, type Command, type RunningProcess } from './process';
import { findRuntime } from './runtime';

/** An n8n that is installed and has data. */
export interface N8nFolders {
	/** The folder that n8n is installed in. */
	hostFolder: string;
	/** The folder for n8n's database, its encryption key and the community nodes that are installed. */
	userFolder: string;
}

export interface N8nOptions {
	/** The file for n8n's output. It is overwritten. */
	logFile: string;
	/** The preferred port. If it is taken, another port is used. */
	port?: number;
	/** Additional environment variables for n8n. They take precedence over those of the host. */
	env?: NodeJS.ProcessEnv;
	/** Additional arguments for Node.js. */
	nodeArgs?: string[];
}

/** An n8n, or one of its workers, that has started. */
export interface RunningN8n extends RunningProcess {
	/** The URL of the editor and the API, or of a worker's health endpoints, without a slash at the end. */
	url: string;
	port: number;
}

/** Milliseconds that n8n may take to start. The first start creates the database, which is slow on a slow disk. */
const START_TIMEOUT_MS = 180_000;

/**
 * Starts n8n on loopback, and waits until its API responds.
 * @throws Problem if n8n ends, or doesn't respond in time
 */
export async function startN8n(folders: N8nFolders, options: N8nOptions): Promise<RunningN8n> {
	// While n8n starts, it responds to all requests with a text.
	return await start('start', folders, options, async (url) => {
		return (await isOk(`${url}/healthz/readiness`)) && (await isOk(`${url}/rest/settings`, 'json'));
	});
}

/**
 * Starts a worker of an n8n in queue mode, and waits until it accepts executions. `env` must contain the addresses of
 * the queue and the database.
 * @throws Problem if the worker ends, or doesn't respond in time
 */
export async function startWorker(folders: N8nFolders, options: N8nOptions): Promise<RunningN8n> {
	return await start('worker', folders, options, async (url) => {
		return await isOk(`${url}/healthz/readiness`);
	});
}

/**
 * Runs one of n8n's own commands, such as `import:workflow`, while n8n doesn't run.
 * @throws Problem if the command fails
 */
export async function runN8n(
	args: readonly string[],
	folders: N8nFolders,
	options: N8nOptions,
): Promise<void> {
	await runCommand(await commandOf(args, folders, { ...options, port: await freePort() }));
}

async function start(
	name: 'start' | 'worker',
	folders: N8nFolders,
	options: N8nOptions,
	isUp: (url: string) => Promise<boolean>,
): Promise<RunningN8n> {
	const port = await freePort(options.port);
	const url = `http://${loopback}:${port}`;
	const running = await startServer({
		name: name === 'worker' ? "n8n's worker" : 'n8n',
		...(await commandOf([name], folders, { ...options, port })),
		isReady: async () => await isUp(url),
		startTimeoutMs: START_TIMEOUT_MS,
	});
	return { ...running, url, port };
}

async function commandOf(
	args: readonly string[],
	{ hostFolder, userFolder }: N8nFolders,
	{ logFile, port, nodeArgs = [], env }: N8nOptions & { port: number },
): Promise<Command> {
	const { node } = await findRuntime(hostFolder);
	await mkdir(userFolder, { recursive: true });
	const n8n = join(hostFolder, 'node_modules', 'n8n', 'bin', 'n8n');
	return {
		command: node,
		args: [...nodeArgs, '--require', join(__dirname, 'leash.cjs'), n8n, ...args],
		cwd: userFolder,
		env: {
			...foreignEnvironment(),
			...settings(userFolder, port, await freePort()),
			PATH: [dirname(node), process.env['PATH']].join(delimiter),
			...env,
		},
		logFile,
	};
}

/** Returns this process's environment variables without those that configure n8n, npm or Node.js. */
function foreignEnvironment(): NodeJS.ProcessEnv {
	const notOurs =
		/^(N8N|DB|EXECUTIONS|QUEUE|OFFLOAD|CREDENTIALS|NODES|WEBHOOK|GENERIC|npm)_|^NODE_(ENV|OPTIONS)$/;
	return Object.fromEntries(Object.entries(process.env).filter(([name]) => !notOurs.test(name)));
}

/** Returns the host's environment variables for n8n. n8n's docs ("Environment variables") and @n8n/config list them. */
export function settings(userFolder: string, port: number, brokerPort: number): NodeJS.ProcessEnv {
	return {
		N8N_USER_FOLDER: userFolder,
		DB_TYPE: 'sqlite',
		// Only this machine can reach n8n.
		N8N_LISTEN_ADDRESS: loopback,
		N8N_HOST: loopback,
		N8N_PORT: String(port),
		N8N_EDITOR_BASE_URL: `http://${loopback}:${port}/`,
		WEBHOOK_URL: `http://${loopback}:${port}/`,
		GENERIC_TIMEZONE: timeZone(),
		// A worker only listens for health checks.
		QUEUE_HEALTH_CHECK_ACTIVE: 'true',
		QUEUE_HEALTH_CHECK_PORT: String(port),
		N8N_WORKER_SERVER_ADDRESS: loopback,
		N8N_RUNNERS_BROKER_PORT: String(brokerPort),
		N8N_RUNNERS_BROKER_LISTEN_ADDRESS: loopback,
		// Browsers send no secure cookies over HTTP.
		N8N_SECURE_COOKIE: 'false',
		// n8n sends no requests to the internet, and shows no assistant that needs the internet.
		N8N_DIAGNOSTICS_ENABLED: 'false',
		N8N_VERSION_NOTIFICATIONS_ENABLED: 'false',
		N8N_VERSION_NOTIFICATIONS_WHATS_NEW_ENABLED: 'false',
		N8N_DYNAMIC_BANNERS_ENABLED: 'false',
		N8N_TEMPLATES_ENABLED: 'false',
		N8N_VERIFIED_PACKAGES_ENABLED: 'false',
		N8N_LICENSE_AUTO_RENEW_ENABLED: 'false',
		N8N_DISABLED_MODULES: 'mcp-registry,instance-ai',
		// The editor asks the user no questions.
		N8N_PERSONALIZATION_ENABLED: 'false',
		N8N_HIRING_BANNER_ENABLED: 'false',
		N8N_ENFORCE_SETTINGS_FILE_PERMISSIONS: 'true',
		// AI agents can use the node as a tool.
		N8N_COMMUNITY_PACKAGES_ALLOW_TOOL_USAGE: 'true',
	};
}

/**
 * Returns the time zone of this machine, or UTC if the environment variable TZ doesn't contain its name. Without a time
 * zone, n8n would use that of New York.
 */
function timeZone(): string {
	const { timeZone: zone } = new Intl.DateTimeFormat().resolvedOptions();
	return Intl.supportedValuesOf('timeZone').includes(zone) ? zone : 'UTC';
}

/** The time limit of one request in milliseconds. An n8n that takes longer isn't ready, and is asked again. */
const LONGEST_ANSWER_MS = 10_000;

/** Returns whether a GET request succeeds, and its response has a content type that contains `type`. */
async function isOk(url: string, type = ''): Promise<boolean> {
	try {
		const answer = await fetch(url, { signal: AbortSignal.timeout(LONGEST_ANSWER_MS) });
		await answer.arrayBuffer();
		return answer.ok && (answer.headers.get('content-type') ?? '').includes(type);
	} catch {
		return false;
	}
}
