import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';

import { operationIds, type OperationId } from '../messages';

/** A schema is named by where it stands in the contract, so that its own references hold. */
export interface SchemaReference {
	$ref: string;
}

/** A parameter in a call's path or query. */
export interface ContractParameter {
	name: string;
	in: 'path' | 'query';
	required: boolean;
	schema: SchemaReference;
}

/** An example from the contract. */
export interface ContractExample {
	/** Where it stands, for messages about it. */
	where: string;
	value: unknown;
	schema: SchemaReference;
}

/** One call of the contract. */
export interface ContractOperation {
	id: OperationId;
	/** What it does, as a title: `Create job`. */
	summary: string;
	/** In capitals. */
	method: 'GET' | 'POST' | 'PUT';
	/** With `{name}` for each path parameter. */
	path: string;
	parameters: ContractParameter[];
	/** The body's schema; undefined where the call takes no body. */
	body: SchemaReference | undefined;
	needsToken: boolean;
	/** Status to the answer's schema; undefined where the answer has no body. */
	answers: ReadonlyMap<number, SchemaReference | undefined>;
	examples: ContractExample[];
}

/** The name under which the contract's schemas refer to the contract. */
export const contractId = 'openapi.yaml';

const contractFile = join(__dirname, '..', '..', 'contract', 'openapi.yaml');

/** The contract as it stands in the file. */
export const contractDocument: ContractDocument = parse(readFileSync(contractFile, 'utf8'));

/** The contract's calls. */
export const contractOperations: readonly ContractOperation[] = readOperations(contractDocument);

/** A call of the contract, by its operationId. */
export function contractOperation(id: OperationId): ContractOperation {
	const found = contractOperations.find((operation) => operation.id === id);
	if (found === undefined) throw new Error(`The contract has no operation '${id}'`);
	return found;
}

/* The parts of OpenAPI that the contract uses. */
interface ContractDocument {
	security: unknown[];
	paths: Record<string, Partial<Record<Lowercase<ContractOperation['method']>, OperationObject>>>;
}
interface OperationObject {
	operationId: string;
	summary: string;
	security?: unknown[];
	parameters?: Array<ParameterObject | SchemaReference>;
	requestBody?: MessageObject;
	responses: Record<string, MessageObject | SchemaReference>;
}
interface ParameterObject {
	name: string;
	in: 'path' | 'query';
	required?: boolean;
	examples?: Record<string, { value: unknown }>;
}
interface MessageObject {
	content?: { 'application/json': { examples?: Record<string, { value: unknown }> } };
}

function readOperations(document: ContractDocument): ContractOperation[] {
	const methods = ['get', 'post', 'put'] as const;
	return Object.entries(document.paths).flatMap(([path, item]) =>
		methods.flatMap((method) => {
			const found = item[method];
			return found === undefined ? [] : [readOperation(document, path, method, found)];
		}),
	);
}

function readOperation(
	document: ContractDocument,
	path: string,
	method: 'get' | 'post' | 'put',
	operation: OperationObject,
): ContractOperation {
	const id = operationIds.find((known) => known === operation.operationId);
	if (id === undefined) throw new Error(`The sandbox can't do '${operation.operationId}'`);
	const here = pointer('#', 'paths', path, method);

	const parameters = (operation.parameters ?? []).map((entry, index) =>
		follow<ParameterObject>(document, entry, pointer(here, 'parameters', String(index))),
	);
	const messages = Object.entries(operation.responses).map(([status, entry]) => ({
		status: Number(status),
		...follow<MessageObject>(document, entry, pointer(here, 'responses', status)),
	}));
	const request = operation.requestBody && {
		value: operation.requestBody,
		where: pointer(here, 'requestBody'),
	};

	return {
		id,
		summary: operation.summary,
		method: method.toUpperCase() as Uppercase<typeof method>,
		path,
		parameters: parameters.map(({ value, where }) => ({
			name: value.name,
			in: value.in,
			required: value.required ?? false,
			schema: schemaAt(pointer(where, 'schema')),
		})),
		body: request && schemaOf(request.value, request.where),
		needsToken: (operation.security ?? document.security).length > 0,
		answers: new Map(messages.map(({ status, value, where }) => [status, schemaOf(value, where)])),
		examples: [
			...parameters.flatMap(({ value, where }) =>
				examplesOf(value.examples, where, schemaAt(pointer(where, 'schema'))),
			),
			...[...(request ? [request] : []), ...messages].flatMap(({ value, where }) =>
				examplesOf(
					value.content?.['application/json'].examples,
					where,
					schemaAt(pointer(where, 'content', 'application/json', 'schema')),
				),
			),
		],
	};
}

function examplesOf(
	examples: Record<string, { value: unknown }> | undefined,
	where: string,
	schema: SchemaReference,
): ContractExample[] {
	return Object.entries(examples ?? {}).map(([name, { value }]) => ({
		where: `${where} (example ${name})`,
		value,
		schema,
	}));
}

function schemaOf(message: MessageObject, where: string): SchemaReference | undefined {
	return message.content && schemaAt(pointer(where, 'content', 'application/json', 'schema'));
}

function schemaAt(where: string): SchemaReference {
	return { $ref: `${contractId}${where}` };
}

/** What an entry is, and where: itself, or what it refers to. */
function follow<T extends object>(
	document: ContractDocument,
	entry: T | SchemaReference,
	where: string,
): { value: T; where: string } {
	if (!('$ref' in entry)) return { value: entry, where };
	return { value: partAt(entry.$ref, document) as T, where: entry.$ref };
}

/** The part of the contract to which a reference leads. */
export function partAt(where: string, document = contractDocument): unknown {
	const steps = where.slice(where.indexOf('#') + 2).split('/');
	return steps.reduce<unknown>((found, step) => {
		const name = decodeURIComponent(step).replaceAll('~1', '/').replaceAll('~0', '~');
		return (found as Record<string, unknown>)[name];
	}, document);
}

function pointer(start: string, ...steps: string[]): string {
	const escaped = steps.map((step) =>
		encodeURIComponent(step.replaceAll('~', '~0').replaceAll('/', '~1')),
	);
	return [start, ...escaped].join('/');
}
