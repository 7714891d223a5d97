import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, open, readFile } from 'node:fs/promises';
import { delimiter, dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { killTree, ownGroup } from './command';
import { needsNodeSqlite } from './install';
import { freePort, loopback } from './ports';
import { Problem, Stopped } from './problem';
import { findRuntime } from './runtime';
import { waitFor } from './wait';

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
	/** Settings of n8n, on top of the host's own. */
	env?: NodeJS.ProcessEnv;
	/** Ends it while it starts. Once it has started, `stop` does. */
	signal?: AbortSignal | undefined;
}

/** An n8n that answers. */
export interface RunningN8n {
	/** Where its editor and its API are, without a slash at the end. */
	url: string;
	port: number;
	pid: number;
	logFile: string;
	/** Resolves when it has ended, asked to or not. */
	ended: Promise<void>;
	/** Ends it and everything that it started. May be called twice. */
	stop(): Promise<void>;
}

/** How long n8n may take to start: its first start makes the database, slowly on a slow disk. */
const startTimeout = 180_000;

/** How long it may take to end before it is ended the hard way. */
const stopTimeout = 10_000;

/**
 * Starts n8n on loopback and waits until it answers.
 * @throws Problem when it doesn't
 */
export async function startN8n(options: N8nOptions): Promise<RunningN8n> {
	const { hostFolder, userFolder, logFile, signal } = options;
	if (signal?.aborted) throw new Stopped();
	const { node } = await findRuntime(hostFolder);
	const port = await freePort(options.port);
	const url = `http://${loopback}:${port}`;
	await mkdir(dirname(logFile), { recursive: true });
	await mkdir(userFolder, { recursive: true });

	const log = await open(logFile, 'w');
	const child = spawn(node, nodeArguments(hostFolder), {
		cwd: userFolder,
		env: {
			...foreignEnvironment(),
			...settings(userFolder, port, await freePort()),
			N8N_DISABLED_MODULES: onlineModules.filter((name) => hasModule(hostFolder, name)).join(),
			PATH: [dirname(node), process.env['PATH']].join(delimiter),
			...options.env,
		},
		// It writes to its log by itself, even after this process is gone. `ipc` is for leash.cjs.
		stdio: ['ignore', log.fd, log.fd, 'ipc'],
		...ownGroup,
	});
	let failure: Error | undefined;
	const ended = new Promise<void>((resolve) => {
		child.once('error', (error) => {
			failure = error;
			resolve();
		});
		child.once('exit', () => resolve());
	});
	await log.close();
	let running = true;
	void ended.then(() => {
		running = false;
	});

	const stop = async () => {
		if (running) {
			killTree(child, 'SIGTERM');
			await Promise.race([ended, sleep(stopTimeout, undefined, { ref: false })]);
		}
		// What n8n itself started and left behind.
		killTree(child, 'SIGKILL');
		await ended;
	};

	try {
		const ready = await waitFor(
			async () => {
				if (!running) throw await notStarted(logFile, failure);
				return (await answers(url)) || undefined;
			},
			{ timeout: startTimeout, signal },
		);
		if (!ready) {
			throw new Problem(`n8n did not answer at ${url} within ${startTimeout / 1000} s.`, logFile);
		}
	} catch (error) {
		await stop();
		throw error;
	}
	return { url, port, pid: child.pid ?? 0, logFile, ended, stop };
}

function nodeArguments(hostFolder: string): string[] {
	const preloads = [join(__dirname, 'leash.cjs')];
	if (needsNodeSqlite(hostFolder)) preloads.push(join(__dirname, 'sqlite', 'preload.cjs'));
	return [
		...preloads.flatMap((path) => ['--require', path]),
		join(hostFolder, 'node_modules', 'n8n', 'bin', 'n8n'),
		'start',
	];
}

/** This process's environment without what is meant for another n8n, or for npm alone. */
function foreignEnvironment(): NodeJS.ProcessEnv {
	const notOurs =
		/^(N8N|DB|EXECUTIONS|QUEUE|CREDENTIALS|NODES|WEBHOOK|GENERIC|npm)_|^NODE_(ENV|OPTIONS)$/;
	return Object.fromEntries(Object.entries(process.env).filter(([name]) => !notOurs.test(name)));
}

/** The host's settings, by the names in @n8n/config and in n8n's docs ("Environment variables"). */
function settings(userFolder: string, port: number, brokerPort: number): NodeJS.ProcessEnv {
	return {
		N8N_USER_FOLDER: userFolder,
		DB_TYPE: 'sqlite',
		// Nobody but this machine can reach it.
		N8N_LISTEN_ADDRESS: loopback,
		N8N_HOST: loopback,
		N8N_PORT: String(port),
		N8N_EDITOR_BASE_URL: `http://${loopback}:${port}/`,
		WEBHOOK_URL: `http://${loopback}:${port}/`,
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
	try {
		const readiness = await fetch(`${url}/healthz/readiness`);
		await readiness.arrayBuffer();
		if (!readiness.ok) return false;
		const api = await fetch(`${url}/rest/settings`);
		await api.arrayBuffer();
		return api.ok && (api.headers.get('content-type') ?? '').includes('json');
	} catch {
		return false;
	}
}

async function notStarted(logFile: string, failure: Error | undefined): Promise<Problem> {
	const log = failure?.message ?? (await readFile(logFile, 'utf8'));
	const portTaken = /port (\d+) is (?:already )?in use|EADDRINUSE/i.exec(log);
	return new Problem(
		portTaken
			? `n8n did not start: another program took port ${portTaken[1] ?? ''} meanwhile. Try again.`
			: `n8n ended before it was up. The last it wrote:\n${lastLines(log)}`,
		logFile,
	);
}

/** Without the lines of a stack, which say nothing to a person. */
function lastLines(text: string): string {
	const lines = text.split('\n').filter((line) => line.trim() !== '' && !/^\s+at /.test(line));
	return lines.slice(-6).join('\n');
}
