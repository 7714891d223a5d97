import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { freePort, loopback } from '../../host/ports';

/** The `limit_req` of an nginx. */
export interface NginxLimit {
	rate: string;
	/** What follows the zone, such as `burst=20 nodelay`. */
	burst: string;
	status: 429 | 503;
}

/** Starts an nginx in front of a service. It doesn't limit the login. */
export async function startNginx(url: string, limit: NginxLimit) {
	const folder = await mkdtemp(join(tmpdir(), 'bench-nginx-'));
	const listen = `${loopback}:${await freePort()}`;
	await writeFile(join(folder, 'nginx.conf'), configuration(listen, new URL(url).host, limit));
	const arguments_ = ['-p', folder, '-c', 'nginx.conf', '-e', 'stderr'];
	const nginx = spawn('nginx', arguments_, { stdio: ['ignore', 'inherit', 'inherit'] });
	const stop = async () => {
		if (nginx.kill()) await once(nginx, 'exit');
		await rm(folder, { recursive: true });
	};
	await once(nginx, 'spawn').catch(async () => {
		await stop();
		throw new Error('skipped, nginx is not installed (Debian: apt-get install nginx-light)');
	});
	const isUp = async () => await fetch(`http://${listen}/oauth/login`).then(Boolean, () => false);
	while (!(await isUp())) {
		if (nginx.exitCode !== null) throw new Error('nginx does not start');
		await sleep(20);
	}
	return { url: `http://${listen}`, stop };
}

function configuration(listen: string, upstream: string, limit: NginxLimit): string {
	const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'];
	return `daemon off; master_process off; pid nginx.pid; error_log stderr crit;
		events { worker_connections 1024; }
		http {
			access_log off;
			${temporary.map((name) => `${name}_temp_path ${name};`).join(' ')}
			limit_req_zone $binary_remote_addr zone=pace:1m rate=${limit.rate};
			limit_req_status ${limit.status};
			upstream sandbox { server ${upstream}; keepalive 100; }
			proxy_http_version 1.1;
			proxy_set_header Connection "";
			server {
				listen ${listen};
				location / { limit_req zone=pace ${limit.burst}; proxy_pass http://sandbox; }
				location = /oauth/login { proxy_pass http://sandbox; }
			}
		}`;
}
