import { Agent, request } from 'node:http';

import type { Target } from '../sandbox/messages';
import { atOnce } from './atOnce';
import type { Contender } from './contender';
import { bodyFor, createPath, listPath } from './job';

/** Node's own client on connections that are kept: the limit outside n8n, which no node can reach. */
export const keepAlive: Contender = {
	title: 'a plain keep-alive client',
	about:
		'No n8n at all: `node:http` on connections that are kept. The limit outside; in n8n each request gets a new connection.',
	load: async () =>
		await Promise.resolve(async (task, target) => {
			const client = new Client(target, task.kind === 'create' ? task.concurrency : 1);
			await client.logIn();
			try {
				if (task.kind === 'list') return await client.allPages(task.pageSize);
				return await atOnce(task.count, task.concurrency, async (n) => await client.create(n));
			} finally {
				client.close();
			}
		}),
};

class Client {
	private readonly agent: Agent;
	private token = '';

	constructor(
		private readonly target: Target,
		maxSockets: number,
	) {
		this.agent = new Agent({ keepAlive: true, maxSockets });
	}

	async logIn(): Promise<void> {
		const { userName, password } = this.target;
		const body = { userName, password, type: 'basic' };
		const answer = (await this.send('POST', '/oauth/login', body)) as { access_token: string };
		this.token = answer.access_token;
	}

	async create(n: number): Promise<unknown> {
		return await this.send('POST', createPath, bodyFor(`Report ${n}`));
	}

	async allPages(pageSize: number): Promise<unknown[]> {
		const clusters: unknown[] = [];
		let token: string | undefined;
		do {
			const more = token === undefined ? '' : `&ListOption.continue=${token}`;
			const path = `${listPath}?ListOption.limit=${pageSize}${more}`;
			const page = (await this.send('GET', path)) as {
				items: unknown[];
				metadata: { continue?: string };
			};
			clusters.push(...page.items);
			token = page.metadata.continue;
		} while (token !== undefined);
		return clusters;
	}

	close(): void {
		this.agent.destroy();
	}

	private async send(method: string, path: string, body?: object): Promise<unknown> {
		const text = body === undefined ? undefined : JSON.stringify(body);
		return await new Promise((resolve, reject) => {
			const sent = request(this.target.url + path, {
				method,
				agent: this.agent,
				headers: {
					Authorization: `Bearer ${this.token}`,
					...(text !== undefined && {
						'Content-Type': 'application/json',
						'Content-Length': Buffer.byteLength(text),
					}),
				},
			});
			sent.on('error', reject);
			sent.on('response', (response) => {
				let answer = '';
				response.setEncoding('utf8');
				response.on('data', (part: string) => (answer += part));
				response.on('error', reject);
				response.on('end', () =>
					response.statusCode === 200 || response.statusCode === 201
						? resolve(JSON.parse(answer))
						: reject(new Error(`${response.statusCode}: ${answer}`)),
				);
			});
			sent.end(text);
		});
	}
}
