import { existsSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { delimiter, dirname, join } from 'node:path';

import { freePort, loopback } from './ports';
import { startProcess, type RunningProcess } from './process';
import { findRuntime } from './runtime';

/** What an n8n is started with. */
export interface N8nOptions {
	/** Where it is installed. */
	hostFolder: string;
	/** Where it keeps its database, its key and the nodes that were installed into it. */
	userFolder: string;
	/** The port that it should listen on; another if that is taken. */
	port?: number;
	/** What it writes goes there. */
	logFile: string;
	/** The port that debuggers can be attached to; none otherwise. */
	debugPort?: number | undefined;
	/** Settings of n8n, on top of the host's own. */
	env?: NodeJS.ProcessEnv;
	/** Ends it while it starts. Once it has started, `stop` does. */
	signal?: AbortSignal | undefined;
}

/** An n8n that answers. */
export interface RunningN8n extends RunningProcess {
	/** Where its editor and its API are, or a worker's health, without a slash at the end. */
	url: string;
	port: number;
}

/** How long n8n may take to start: its first start makes the database, slowly on a slow disk. */
const startTimeout = 180_000;

/**
 * Starts n8n on loopback and waits until it answers.
 * @throws Problem when it doesn't
 */
export async function startN8n(options: N8nOptions): Promise<RunningN8n> {
	return await start('start', options, answers);
}

/**
 * Starts a worker of an n8n in queue mode and waits until it takes executions. Where queue and database are,
 * `env` has to say.
 * @throws Problem when it doesn't
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

/** This process's environment without what is meant for another n8n, or for npm alone. */
function foreignEnvironment(): NodeJS.ProcessEnv {
	const notOurs =
		/^(N8N|DB|EXECUTIONS|QUEUE|OFFLOAD|CREDENTIALS|NODES|WEBHOOK|GENERIC|npm)_|^NODE_(ENV|OPTIONS)$/;
	return Object.fromEntries(Object.entries(process.env).filter(([name]) => !notOurs.test(name)));
}

/** The host's settings, by the names in @n8n/config and in n8n's docs ("Environment variables"). */
export function settings(userFolder: string, port: number, brokerPort: number): NodeJS.ProcessEnv {
	return {
		N8N_USER_FOLDER: userFolder,
		DB_TYPE: 'sqlite',
		// Only this machine can reach it.
		N8N_LISTEN_ADDRESS: loopback,
		N8N_HOST: loopback,
		N8N_PORT: String(port),
		N8N_EDITOR_BASE_URL: `http://${loopback}:${port}/`,
		WEBHOOK_URL: `http://${loopback}:${port}/`,
		// A worker listens for nothing but questions about its health.
		QUEUE_HEALTH_CHECK_ACTIVE: 'true',
		QUEUE_HEALTH_CHECK_PORT: String(port),
		N8N_WORKER_SERVER_ADDRESS: loopback,
		N8N_RUNNERS_BROKER_PORT: String(brokerPort),
		N8N_RUNNERS_BROKER_LISTEN_ADDRESS: loopback,
		// Without https a browser doesn't return a cookie that is marked secure.
		N8N_SECURE_COOKIE: 'false',
		// It asks nothing of the internet.
		N8N_DIAGNOSTICS_ENABLED: 'false',
		N8N_VERSION_NOTIFICATIONS_ENABLED: 'false',
		N8N_VERSION_NOTIFICATIONS_WHATS_NEW_ENABLED: 'false',
		N8N_DYNAMIC_BANNERS_ENABLED: 'false',
		N8N_TEMPLATES_ENABLED: 'false',
		N8N_VERIFIED_PACKAGES_ENABLED: 'false',
		N8N_LICENSE_AUTO_RENEW_ENABLED: 'false',
		// It asks nothing of the person.
		N8N_PERSONALIZATION_ENABLED: 'false',
		N8N_HIRING_BANNER_ENABLED: 'false',
		N8N_ENFORCE_SETTINGS_FILE_PERMISSIONS: 'true',
		// The node serves AI agents too.
		N8N_COMMUNITY_PACKAGES_ALLOW_TOOL_USAGE: 'true',
	};
}

/** Modules of n8n that ask the internet for lists, or greet the person with an assistant that needs it. */
const onlineModules = ['mcp-registry', 'instance-ai'];

/** n8n refuses to disable a module that it doesn't have (@n8n/backend-common, modules.config.js). */
function hasModule(hostFolder: string, name: string): boolean {
	return existsSync(join(hostFolder, 'node_modules', 'n8n', 'dist', 'modules', name));
}

/** Whether it is ready and its API is there: before, n8n answers with a text that asks for patience. */
async function answers(url: string): Promise<boolean> {
	return (await isReady(url)) && (await isOk(`${url}/rest/settings`, 'json'));
}

/** Whether its database and, in queue mode, its queue are there. */
async function isReady(url: string): Promise<boolean> {
	return await isOk(`${url}/healthz/readiness`);
}

async function isOk(url: string, type = ''): Promise<boolean> {
	try {
		const answer = await fetch(url);
		await answer.arrayBuffer();
		return answer.ok && (answer.headers.get('content-type') ?? '').includes(type);
	} catch {
		return false;
	}
}
