import { Problem } from './problem';

/** Calls n8n's internal API, and keeps the session cookie. */
export class N8nClient {
	private cookie = '';

	/** @param url the URL of n8n, without a slash at the end */
	constructor(private readonly url: string) {}

	/**
	 * Makes a call.
	 * @param body sent as JSON, unless it is undefined
	 * @returns the field `data` of the response
	 * @throws Problem with n8n's message if the status isn't 2xx, or if n8n doesn't respond
	 */
	async call<T = unknown>(method: string, path: string, body?: unknown): Promise<T> {
		const sent = fetch(this.url + path, {
			method,
			headers: {
				// No connection is reused, because n8n could be closing it at that moment.
				connection: 'close',
				...(this.cookie && { cookie: this.cookie }),
				...(body !== undefined && { 'content-type': 'application/json' }),
			},
			...(body !== undefined && { body: JSON.stringify(body) }),
		});
		const response = await sent.catch(() => {
			throw new Problem(`n8n does not answer at ${this.url} any more.`);
		});
		for (const cookie of response.headers.getSetCookie()) {
			const [pair = ''] = cookie.split(';');
			if (pair.startsWith('n8n-auth=')) this.cookie = pair;
		}
		const text = await response.text();
		if (!response.ok) {
			const said = /"message":"((?:[^"\\]|\\.)*)"/.exec(text)?.[1] ?? text.slice(0, 300);
			throw new Problem(`n8n refused ${method} ${path} with ${response.status}: ${said}`);
		}
		return (JSON.parse(text) as { data: T }).data;
	}
}
