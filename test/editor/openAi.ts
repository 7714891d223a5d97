import fastify from 'fastify';

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
