import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';

/** What a model answers: it asks for a tool, or says something. */
export type Answer = { tool: string; arguments: Record<string, unknown> } | { says: string };

/** What a model is sent, as far as it is read here. */
export interface ChatRequest {
	model: string;
	messages: Array<{ role: string; content: unknown }>;
	tools?: Array<{ function: { name: string; description?: string; parameters: unknown } }>;
	stream?: boolean;
}

/** A stand-in for OpenAI's API: what it answers is laid down beforehand. */
export interface OpenAi {
	/** Its base URL. */
	url: string;
	/** What it was sent. */
	requests: ChatRequest[];
	/** What it answers next, in turn, instead of what was laid down before. */
	willAnswer(...answers: Answer[]): void;
	close(): Promise<void>;
}

/** Starts one on loopback. It knows `POST /v1/chat/completions` alone, whole or as a stream. */
export async function startOpenAi(): Promise<OpenAi> {
	const requests: ChatRequest[] = [];
	const answers: Answer[] = [];
	const server = createServer((request, response) => {
		void (async () => {
			if (request.url !== '/v1/chat/completions') return refuse(response, 404, 'No such call');
			const asked = (await json(request)) as ChatRequest;
			requests.push(asked);
			const answer = answers.shift();
			if (answer === undefined) return refuse(response, 400, 'Nothing was laid down to answer');
			send(response, asked, messageOf(answer, requests.length));
		})();
	});
	server.listen(0, '127.0.0.1');
	await once(server, 'listening');
	const { port } = server.address() as AddressInfo;
	return {
		url: `http://127.0.0.1:${port}/v1`,
		requests,
		willAnswer: (...next) => void answers.splice(0, answers.length, ...next),
		close: async () => {
			server.closeAllConnections();
			server.close();
			await once(server, 'close');
		},
	};
}

function send(
	response: ServerResponse,
	{ model, stream }: ChatRequest,
	message: ReturnType<typeof messageOf>,
): void {
	const about = { id: 'chatcmpl-1', created: 0, model };
	const finish_reason = message.tool_calls === undefined ? 'stop' : 'tool_calls';
	if (stream !== true) {
		const choices = [{ index: 0, message, finish_reason }];
		response.setHeader('content-type', 'application/json');
		response.end(JSON.stringify({ ...about, object: 'chat.completion', choices, usage }));
		return;
	}
	const choices = [{ index: 0, delta: message, finish_reason }];
	const chunk = JSON.stringify({ ...about, object: 'chat.completion.chunk', choices });
	response.setHeader('content-type', 'text/event-stream');
	response.end(`data: ${chunk}\n\ndata: [DONE]\n\n`);
}

const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 };

/** @param n which answer it is: a tool is asked for by an id that no other answer has */
function messageOf(answer: Answer, n: number) {
	if ('says' in answer) return { role: 'assistant', content: answer.says };
	const call = { name: answer.tool, arguments: JSON.stringify(answer.arguments) };
	return {
		role: 'assistant',
		content: null,
		tool_calls: [{ index: 0, id: `call_${n}`, type: 'function', function: call }],
	};
}

function refuse(response: ServerResponse, status: number, message: string): void {
	response.writeHead(status, { 'content-type': 'application/json' });
	response.end(JSON.stringify({ error: { message } }));
}
