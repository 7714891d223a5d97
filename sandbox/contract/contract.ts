import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { RefResolver } from 'json-schema-ref-resolver';
import { parse } from 'yaml';

import type { OperationId } from '../messages';

/**
 * One call of the contract. The library fastify-openapi-glue makes routes of such a document, but gives neither the titles,
 * which the page shows, nor the examples, which the tests read.
 */
export type ContractOperation = ReturnType<typeof readOperation>;

/** The parts of OpenAPI that the contract uses. */
interface OperationObject {
	operationId: OperationId;
	/** What it does, as a title: `Create job`. */
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

/** A call of the contract, by its operationId. */
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
		/** With `{name}` for each path parameter. */
		path,
		needsToken: security.length > 0,
		/** What a request holds, as a Fastify route takes it. The body is absent where the call takes none. */
		request: {
			params: parametersIn('path', operation),
			querystring: parametersIn('query', operation),
			...(body && { body: body.schema }),
		},
		/** Status to the answer's schema; undefined where the answer has no body. */
		answers: new Map(answers.map(([status, answer]) => [status, answer?.schema])),
		/** The examples of its body and of its answers. */
		examples: [body, ...answers.map(([, answer]) => answer)].flatMap((message) =>
			Object.entries(message?.examples ?? {}).map(([name, { value }]) => ({ name, value })),
		),
	};
}

/** What a path or a query holds: the parameters of the contract, and no other. */
function parametersIn(place: 'path' | 'query', { parameters = [] }: OperationObject) {
	const here = parameters.filter((parameter) => parameter.in === place);
	return {
		type: 'object',
		additionalProperties: false,
		required: here.filter(({ required }) => required).map(({ name }) => name),
		properties: Object.fromEntries(here.map(({ name, schema }) => [name, schema])),
	};
}
