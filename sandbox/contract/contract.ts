import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { RefResolver } from 'json-schema-ref-resolver';
import { parse } from 'yaml';

import type { OperationId } from '../messages';

/**
 * An operation of the contract. The library fastify-openapi-glue isn't used: it creates routes from an OpenAPI
 * document, but doesn't return the summaries, which the page shows, and the examples, which the tests read.
 */
export type ContractOperation = ReturnType<typeof readOperation>;

/** The parts of OpenAPI that the contract uses. */
interface OperationObject {
	operationId: OperationId;
	/** The title of the operation, such as `Create job`. */
	summary: string;
	security?: unknown[];
	parameters?: Array<{ name: string; in: 'path' | 'query'; required?: boolean; schema: object }>;
	requestBody?: MessageObject;
	responses: Record<string, MessageObject>;
}
interface MessageObject {
	content?: {
		'application/json': { schema: object; examples: Record<string, { value: unknown }> };
	};
}

export const contractOperations = readOperations();

/**
 * Returns the operation with this operationId.
 * @throws Error if the contract doesn't have the operation
 */
export function contractOperation(id: OperationId): ContractOperation {
	const found = contractOperations.find((operation) => operation.id === id);
	if (found === undefined) throw new Error(`The contract has no operation '${id}'`);
	return found;
}

function readOperations() {
	const contractFile = join(__dirname, '..', '..', 'contract', 'openapi.yaml');
	const resolver = new RefResolver();
	resolver.addSchema(parse(readFileSync(contractFile, 'utf8')), 'contract');
	const { paths, security } = resolver.getDerefSchema('contract') as unknown as {
		paths: Record<string, Record<string, OperationObject>>;
		security: unknown[];
	};
	return Object.entries(paths).flatMap(([path, item]) =>
		Object.entries(item).map(([method, operation]) =>
			readOperation(path, method.toUpperCase(), { security, ...operation }),
		),
	);
}

function readOperation(path: string, method: string, operation: OperationObject) {
	const { operationId: id, summary, security = [], requestBody, responses } = operation;
	const body = requestBody?.content?.['application/json'];
	const answers = Object.entries(responses).map(
		([status, { content }]) => [Number(status), content?.['application/json']] as const,
	);
	return {
		id,
		summary,
		method,
		/** Contains `{name}` for each path parameter. */
		path,
		needsToken: security.length > 0,
		/** The schemas of a request, as the `schema` of a Fastify route. Fastify allows no schema for the body of a GET. */
		request: {
			params: parametersIn('path', operation),
			querystring: parametersIn('query', operation),
			...(method !== 'GET' && { body: body?.schema ?? { type: 'null' } }),
		},
		/** The schema of the response for each status; undefined if the response has no body. */
		answers: new Map(answers.map(([status, answer]) => [status, answer?.schema])),
		/** The examples of the request body and of the responses. */
		examples: [body, ...answers.map(([, answer]) => answer)].flatMap((message) =>
			Object.entries(message?.examples ?? {}).map(([name, { value }]) => ({ name, value })),
		),
	};
}

/** Returns a schema that allows only the contract's parameters in the path or in the query. */
function parametersIn(place: 'path' | 'query', { parameters = [] }: OperationObject) {
	const here = parameters.filter((parameter) => parameter.in === place);
	return {
		type: 'object',
		additionalProperties: false,
		required: here.filter(({ required }) => required).map(({ name }) => name),
		properties: Object.fromEntries(here.map(({ name, schema }) => [name, schema])),
	};
}
