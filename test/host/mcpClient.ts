/**
 * Connects to an MCP server over streamable HTTP.
 *
 * @param token the token of Bearer Auth
 * @returns a function that calls a tool, and returns the text of its result or error
 */
export async function connectMcp(url: string, token?: string) {
	let session: string | null = null;
	let id = 0;
	const post = async (method: string, params?: object): Promise<string> => {
		const isNotification = params === undefined;
		const response = await fetch(url, {
			method: 'POST',
			headers: {
				'content-type': 'application/json',
				accept: 'application/json, text/event-stream',
				...(token !== undefined && { authorization: `Bearer ${token}` }),
				...(session !== null && { 'mcp-session-id': session }),
			},
			body: JSON.stringify({
				jsonrpc: '2.0',
				method,
				...(!isNotification && { id: (id += 1), params }),
			}),
		});
		const text = await response.text();
		if (!response.ok) throw new Error(`The MCP server answers ${response.status}: ${text}`);
		session ??= response.headers.get('mcp-session-id');
		return text;
	};
	const clientInfo = { name: 'test', version: '1' };
	await post('initialize', { protocolVersion: '2025-03-26', capabilities: {}, clientInfo });
	await post('notifications/initialized');

	return async (name: string, args: Record<string, unknown>): Promise<string> => {
		const text = await post('tools/call', { name, arguments: args });
		// The response is JSON, or an event whose data is JSON.
		const { result, error } = JSON.parse(/^data: (.*)$/m.exec(text)?.[1] ?? text) as {
			result?: { content: Array<{ text?: string }> };
			error?: unknown;
		};
		if (result === undefined) throw new Error(`${name}: ${JSON.stringify(error)}`);
		return result.content.map((part) => part.text ?? '').join('\n');
	};
}
