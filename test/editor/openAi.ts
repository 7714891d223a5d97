import fastify from 'fastify';

import type { N8nApi, WorkflowFile } from '../../host/api';
import { readExample } from '../host/host';

/** An answer of the model: a call of a tool, or a text. */
export type Answer = { tool: string; arguments: Record<string, unknown> } | { says: string };

/** The parts of a request to the model that the tests read. */
export interface ChatRequest {
	model: string;
	messages: Array<{ role: string; content: unknown }>;
	tools?: Array<{ function: { name: string; description?: string; parameters: unknown } }>;
	stream?: boolean;
}

/** A stand-in for OpenAI's API with predefined answers. */
export interface OpenAi {
	/** The base URL of the stand-in. */
	url: string;
	/** The requests that it has received. */
	requests: ChatRequest[];
	/** Sets the next answers, in order. They replace the earlier ones. */
	willAnswer(...answers: Answer[]): void;
	close(): Promise<void>;
}

/** Starts a stand-in on loopback. It only has `POST /v1/chat/completions`, and answers at once or as a stream. */
export async function startOpenAi(): Promise<OpenAi> {
	const requests: ChatRequest[] = [];
	const answers: Answer[] = [];
	const server = fastify({ bodyLimit: 10_000_000, forceCloseConnections: true });
	server.post<{ Body: ChatRequest }>('/v1/chat/completions', async ({ body }, reply) => {
		requests.push(body);
		const answer = answers.shift();
		if (answer === undefined) {
			return await reply.code(400).send({ error: { message: 'Nothing was laid down to answer' } });
		}
		const message = messageOf(answer, requests.length);
		const finish_reason = message.tool_calls === undefined ? 'stop' : 'tool_calls';
		const about = { id: 'chatcmpl-1', created: 0, model: body.model };
		if (body.stream !== true) {
			const choices = [{ index: 0, message, finish_reason }];
			return { ...about, object: 'chat.completion', choices, usage };
		}
		const choices = [{ index: 0, delta: message, finish_reason }];
		const chunk = JSON.stringify({ ...about, object: 'chat.completion.chunk', choices });
		return await reply.type('text/event-stream').send(`data: ${chunk}\n\ndata: [DONE]\n\n`);
	});
	return {
		url: `${await server.listen({ host: '127.0.0.1', port: 0 })}/v1`,
		requests,
		willAnswer: (...next) => void answers.splice(0, answers.length, ...next),
		close: async () => await server.close(),
	};
}

const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 };

/** @param n number of the answer, which makes the ID of a tool call unique */
function messageOf(answer: Answer, n: number) {
	if ('says' in answer) return { role: 'assistant', content: answer.says };
	const call = { name: answer.tool, arguments: JSON.stringify(answer.arguments) };
	return {
		role: 'assistant',
		content: null,
		tool_calls: [{ index: 0, id: `call_${n}`, type: 'function', function: call }],
	};
}

/** Returns the example of an AI agent. Its chat model is a stand-in, for which n8n gets a credential. */
export async function agentExample(api: N8nApi, { url }: OpenAi): Promise<WorkflowFile> {
	const name = 'Stand-in for OpenAI';
	const data = { apiKey: 'none', url, header: false };
	const id = await api.createCredential({ name, type: 'openAiApi', data });
	const { nodes, ...rest } = await readExample('ai-agent.json');
	const withModel = nodes.map((each) =>
		each.name === 'Chat model' ? { ...each, credentials: { openAiApi: { id, name } } } : each,
	);
	return { ...rest, nodes: withModel };
}
