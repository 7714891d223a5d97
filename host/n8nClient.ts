import { Problem } from './problem';

/** Calls n8n's own API, and keeps the cookie by which it knows its user. */
export class N8nClient {
	private cookie = '';

	/** @param url where n8n is, without a slash at the end */
	constructor(private readonly url: string) {}

	/**
	 * Any call of the API.
	 * @throws Refused with what n8n said, or Problem when it doesn't answer
	 */
	async call<T = unknown>(method: string, path: string, body?: unknown): Promise<T> {
		const sent = fetch(this.url + path, {
			method,
			headers: {
				// A connection that is kept may be one that n8n is closing at that moment.
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
			throw new Refused(
				`n8n refused ${method} ${path} with ${response.status}: ${said}`,
				response.status,
			);
		}
		return (JSON.parse(text) as { data: T }).data;
	}
}

/** Thrown where n8n refuses a call. */
export class Refused extends Problem {
	constructor(
		message: string,
		/** The HTTP status. */
		readonly status: number,
	) {
		super(message);
		this.name = 'Refused';
	}
}
