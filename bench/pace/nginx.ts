import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { freePort, loopback } from '../../host/ports';

/** How many an nginx lets through: `limit_req`. */
export interface NginxLimit {
	rate: string;
	/** What stands behind `zone=…` in `limit_req`. */
	burst: string;
	status: 429 | 503;
}

/** An nginx of its own in front of a service; the log-in isn't limited. */
export async function startNginx(
	url: string,
	{ rate, burst, status }: NginxLimit,
): Promise<{ url: string; stop: () => Promise<void> }> {
	const folder = await mkdtemp(join(tmpdir(), 'bench-nginx-'));
	const port = await freePort();
	const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'];
	await writeFile(
		join(folder, 'nginx.conf'),
		`daemon off; master_process off; pid nginx.pid; error_log stderr crit;
		events { worker_connections 1024; }
		http {
			access_log off;
			${temporary.map((name) => `${name}_temp_path ${name};`).join(' ')}
			limit_req_zone $binary_remote_addr zone=pace:1m rate=${rate};
			limit_req_status ${status};
			upstream sandbox { server ${new URL(url).host}; keepalive 100; }
			proxy_http_version 1.1;
			proxy_set_header Connection "";
			server {
				listen ${loopback}:${port};
				location / { limit_req zone=pace ${burst}; proxy_pass http://sandbox; }
				location = /oauth/login { proxy_pass http://sandbox; }
			}
		}`,
	);
	const nginx = spawn('nginx', ['-p', folder, '-c', 'nginx.conf', '-e', 'stderr'], {
		stdio: ['ignore', 'inherit', 'inherit'],
	});
	await once(nginx, 'spawn').catch(async () => {
		await rm(folder, { recursive: true });
		throw new Error('skipped, nginx is not installed (Debian: apt-get install nginx-light)');
	});
	const front = `http://${loopback}:${port}`;
	const isUp = async () => await fetch(`${front}/oauth/login`).then(Boolean, () => false);
	while (!(await isUp())) {
		if (nginx.exitCode !== null) throw new Error('nginx does not start');
		await sleep(20);
	}
	return {
		url: front,
		stop: async () => {
			nginx.kill();
			if (nginx.exitCode === null) await once(nginx, 'exit');
			await rm(folder, { recursive: true });
		},
	};
}
