/** A client of an MCP server over streamable HTTP. It can only call tools. */
export class McpClient {
	private session: string | undefined;
	private lastId = 0;

	private constructor(private readonly url: string) {}

	static async connect(url: string): Promise<McpClient> {
		const client = new McpClient(url);
		await client.request('initialize', {
			protocolVersion: '2025-03-26',
			capabilities: {},
			clientInfo: { name: 'test', version: '1' },
		});
		await client.post({ jsonrpc: '2.0', method: 'notifications/initialized' });
		return client;
	}

	/** @returns the text of the tool's result or error */
	async callTool(name: string, args: Record<string, unknown>): Promise<string> {
		const result = (await this.request('tools/call', { name, arguments: args })) as {
			content: Array<{ text?: string }>;
		};
		return result.content.map(({ text }) => text ?? '').join('\n');
	}

	/** @throws Error with the server's error, if the server refuses the request */
	private async request(method: string, params: object): Promise<unknown> {
		this.lastId += 1;
		const text = await this.post({ jsonrpc: '2.0', id: this.lastId, method, params });
		// The response is JSON, or an event whose data is JSON.
		const json = /^data: (.*)$/m.exec(text)?.[1] ?? text;
		const { result, error } = JSON.parse(json) as { result?: unknown; error?: unknown };
		if (error !== undefined) throw new Error(`${method}: ${JSON.stringify(error)}`);
		return result;
	}

	private async post(message: object): Promise<string> {
		const response = await fetch(this.url, {
			method: 'POST',
			headers: {
				'content-type': 'application/json',
				accept: 'application/json, text/event-stream',
				...(this.session === undefined ? {} : { 'mcp-session-id': this.session }),
			},
			body: JSON.stringify(message),
		});
		const text = await response.text();
		if (!response.ok) throw new Error(`The MCP server answers ${response.status}: ${text}`);
		this.session ??= response.headers.get('mcp-session-id') ?? undefined;
		return text;
	}
}
