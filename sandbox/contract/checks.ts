import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020';
import addFormats from 'ajv-formats';

import type { OperationId } from '../messages';
import {
	contractDocument,
	contractId,
	contractOperation,
	type ContractOperation,
	contractOperations,
	type ContractParameter,
	type SchemaReference,
} from './contract';
import { explain } from './explain';

/** A body is taken as it is: a text is no number there, and nothing is filled in or left out. */
const asItIs = newAjv(false);

/** In a path or a query everything is text: there a text may stand for a number. */
const fromText = newAjv(true);

/** The schemas of what a call's request holds, in the form in which a Fastify route takes them. */
export interface RequestSchemas {
	params: object;
	querystring: object;
	/** Absent where the call takes no body. */
	body?: SchemaReference;
}

/** The same objects for all sandboxes of a process: a check is compiled once for each. */
const schemas = new Map(contractOperations.map(({ id, ...rest }) => [id, schemasOf(rest)]));

/** The schemas of a call's request. In path and query only the parameters of the contract may be. */
export function requestSchemas({ id, ...rest }: ContractOperation): RequestSchemas {
	return { ...(schemas.get(id) ?? schemasOf(rest)) };
}

function schemasOf({
	parameters,
	body,
}: Pick<ContractOperation, 'parameters' | 'body'>): RequestSchemas {
	return {
		params: objectOf(parameters, 'path'),
		querystring: objectOf(parameters, 'query'),
		...(body && { body }),
	};
}

/** Makes a check of a schema. That of a path or a query turns texts into numbers, in place. */
export function compileCheck(schema: object, part: string | undefined): ValidateFunction {
	return (part === 'body' ? asItIs : fromText).compile(schema);
}

/** Says what is wrong with a value that a schema of the contract describes; undefined if nothing is. */
export function wrongWith(schema: SchemaReference, value: unknown): string | undefined {
	const check = asItIs.getSchema(schema.$ref) ?? asItIs.compile(schema);
	return check(value) === true ? undefined : explain('value', check.errors ?? []);
}

/**
 * Says in what an answer differs from the contract; undefined if in nothing.
 * @param status the answer's HTTP status; one that the contract does not list is wrong
 * @param body the answer's body, parsed; undefined where it is empty
 */
export function wrongWithAnswer(
	operation: OperationId,
	status: number,
	body: unknown,
): string | undefined {
	const { answers } = contractOperation(operation);
	if (!answers.has(status)) return `${operation} has no answer with status ${status}`;
	const schema = answers.get(status);
	if (schema !== undefined) return wrongWith(schema, body);
	return body === undefined ? undefined : `${operation} answers ${status} with no body`;
}

function newAjv(coerceTypes: boolean): Ajv2020 {
	const ajv = new Ajv2020({ allErrors: true, allowUnionTypes: true, coerceTypes, strict: true });
	addFormats(ajv);
	ajv.addKeyword('x-not-in-interface');
	// The document is not a schema, it only holds some: its own keys mean nothing to a check.
	ajv.addVocabulary(Object.keys(contractDocument));
	ajv.addSchema(contractDocument, contractId, undefined, false);
	return ajv;
}

function objectOf(parameters: readonly ContractParameter[], place: 'path' | 'query'): object {
	const here = parameters.filter((parameter) => parameter.in === place);
	return {
		type: 'object',
		additionalProperties: false,
		required: here.filter(({ required }) => required).map(({ name }) => name),
		properties: Object.fromEntries(here.map(({ name, schema }) => [name, schema])),
	};
}
