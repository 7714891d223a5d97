import { existsSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { delimiter, dirname, join } from 'node:path';

import { freePort, loopback } from './ports';
import { startProcess, type RunningProcess } from './process';
import { findRuntime } from './runtime';

/** How an n8n is started. */
export interface N8nOptions {
	/** The folder that n8n is installed in. */
	hostFolder: string;
	/** The folder for n8n's database, its encryption key and the community nodes that are installed. */
	userFolder: string;
	/** The preferred port. If it is taken, another port is used. */
	port?: number;
	/** The file for n8n's output. */
	logFile: string;
	/** The port on which n8n accepts debuggers. If it is undefined, n8n accepts none. */
	debugPort?: number | undefined;
	/** Additional environment variables for n8n. They take precedence over those of the host. */
	env?: NodeJS.ProcessEnv;
	/** Aborts the start. To end n8n after its start, call `stop`. */
	signal?: AbortSignal | undefined;
}

/** An n8n, or one of its workers, that has started. */
export interface RunningN8n extends RunningProcess {
	/** The URL of the editor and the API, or of a worker's health endpoints, without a slash at the end. */
	url: string;
	port: number;
}

/** Milliseconds that n8n may take to start. The first start creates the database, which is slow on a slow disk. */
const startTimeout = 180_000;

/**
 * Starts n8n on loopback, and waits until its API responds.
 * @throws Problem if n8n ends, or doesn't respond in time
 * @throws Stopped if the signal was aborted
 */
export async function startN8n(options: N8nOptions): Promise<RunningN8n> {
	return await start('start', options, answers);
}

/**
 * Starts a worker of an n8n in queue mode, and waits until it accepts executions. `env` must contain the addresses of
 * the queue and the database.
 * @throws Problem if the worker ends, or doesn't respond in time
 * @throws Stopped if the signal was aborted
 */
export async function startWorker(options: N8nOptions): Promise<RunningN8n> {
	return await start('worker', options, isReady);
}

async function start(
	command: 'start' | 'worker',
	{ hostFolder, userFolder, logFile, signal, ...options }: N8nOptions,
	isUp: (url: string) => Promise<boolean>,
): Promise<RunningN8n> {
	const { node } = await findRuntime(hostFolder);
	const port = await freePort(options.port);
	const url = `http://${loopback}:${port}`;
	await mkdir(userFolder, { recursive: true });
	const running = await startProcess({
		name: command === 'worker' ? "n8n's worker" : 'n8n',
		command: node,
		args: [
			...(options.debugPort === undefined ? [] : [`--inspect=${loopback}:${options.debugPort}`]),
			...['--require', join(__dirname, 'leash.cjs')],
			...[join(hostFolder, 'node_modules', 'n8n', 'bin', 'n8n'), command],
		],
		cwd: userFolder,
		env: {
			...foreignEnvironment(),
			...settings(userFolder, port, await freePort()),
			N8N_DISABLED_MODULES: onlineModules.filter((name) => hasModule(hostFolder, name)).join(),
			PATH: [dirname(node), process.env['PATH']].join(delimiter),
			...options.env,
		},
		logFile,
		leash: true,
		isReady: async () => await isUp(url),
		startTimeout,
		signal,
	});
	return { ...running, url, port };
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
		// n8n sends no requests to the internet.
		N8N_DIAGNOSTICS_ENABLED: 'false',
		N8N_VERSION_NOTIFICATIONS_ENABLED: 'false',
		N8N_VERSION_NOTIFICATIONS_WHATS_NEW_ENABLED: 'false',
		N8N_DYNAMIC_BANNERS_ENABLED: 'false',
		N8N_TEMPLATES_ENABLED: 'false',
		N8N_VERIFIED_PACKAGES_ENABLED: 'false',
		N8N_LICENSE_AUTO_RENEW_ENABLED: 'false',
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

/** Modules of n8n that load lists from the internet, or show an assistant that needs the internet. */
const onlineModules = ['mcp-registry', 'instance-ai'];

/**
 * Returns whether n8n has the module. n8n doesn't start if it has to disable a module that it doesn't have
 * (@n8n/backend-common, modules.config.js).
 */
function hasModule(hostFolder: string, name: string): boolean {
	return existsSync(join(hostFolder, 'node_modules', 'n8n', 'dist', 'modules', name));
}

/** Returns whether n8n is ready and its API responds with JSON. While n8n starts, it responds with a text. */
async function answers(url: string): Promise<boolean> {
	return (await isReady(url)) && (await isOk(`${url}/rest/settings`, 'json'));
}

/** Returns whether n8n has connected to its database and, in queue mode, to its queue. */
async function isReady(url: string): Promise<boolean> {
	return await isOk(`${url}/healthz/readiness`);
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
