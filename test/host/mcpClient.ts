/**
 * Connects to an MCP server over streamable HTTP.
 *
 * @param token the token of Bearer Auth
 * @returns a function that calls a tool, and returns the text of its result or error
 */
export async function connectMcp(url: string, token?: string) {
	let session: string | null = null;
	const post = async (message: object): Promise<string> => {
		const response = await fetch(url, {
			method: 'POST',
			headers: {
				'content-type': 'application/json',
				accept: 'application/json, text/event-stream',
				...(token !== undefined && { authorization: `Bearer ${token}` }),
				...(session !== null && { 'mcp-session-id': session }),
			},
			body: JSON.stringify({ jsonrpc: '2.0', ...message }),
		});
		const text = await response.text();
		if (!response.ok) throw new Error(`The MCP server answers ${response.status}: ${text}`);
		session ??= response.headers.get('mcp-session-id');
		return text;
	};
	const clientInfo = { name: 'test', version: '1' };
	const params = { protocolVersion: '2025-03-26', capabilities: {}, clientInfo };
	await post({ id: 0, method: 'initialize', params });
	await post({ method: 'notifications/initialized' });
	let id = 0;

	return async (name: string, args: Record<string, unknown>): Promise<string> => {
		id += 1;
		const text = await post({ id, method: 'tools/call', params: { name, arguments: args } });
		// The response is JSON, or an event whose data is JSON.
		const { result, error } = JSON.parse(/^data: (.*)$/m.exec(text)?.[1] ?? text) as {
			result?: { content: Array<{ text?: string }> };
			error?: unknown;
		};
		if (result === undefined) throw new Error(`${name}: ${JSON.stringify(error)}`);
		return result.content.map((part) => part.text ?? '').join('\n');
	};
}
