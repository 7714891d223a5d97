import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020';
import addFormats from 'ajv-formats';
import type { FastifySchemaValidationError } from 'fastify';

import type { OperationId } from '../messages';
import { contractOperation } from './contract';

/** Validates bodies. In a body, a string isn't accepted as a number. */
const asItIs = newAjv(false);

/** Validates path and query parameters. All of them are strings, so a string may represent a number. */
const fromText = newAjv(true);

function newAjv(coerceTypes: boolean): Ajv2020 {
	const ajv = new Ajv2020({ allErrors: true, allowUnionTypes: true, coerceTypes });
	addFormats(ajv);
	return ajv.addKeyword('x-not-in-interface');
}

/**
 * Returns the function with which Fastify validates a part of a request. In the parameters of the path and of the
 * query, this function replaces strings by numbers where the schema requires a number.
 * @param part Fastify's name of the part: `body`, `params` or `querystring`
 */
export function compileCheck(schema: object, part: string | undefined): ValidateFunction {
	return (part === 'body' ? asItIs : fromText).compile(schema);
}

/**
 * Returns ajv's messages, separated by semicolons. Adds what ajv omits: the field that each message is about, and the
 * name of an unexpected property or the allowed values.
 */
export function inWords(errors: FastifySchemaValidationError[], part: string): string {
	const sentences = errors.map(({ instancePath, message = '', params }) => {
		const named = [params['additionalProperty'] ?? params['allowedValues'] ?? []].flat();
		return [`${part}${instancePath} ${message}`, named.join(', ')].filter(Boolean).join(': ');
	});
	return sentences.join('; ');
}

/**
 * Compares a response with the contract.
 * @param body the parsed body of the response; undefined if the response has no body
 * @returns how the response differs from the contract, or undefined if it complies. A status that the contract doesn't
 * list is a difference.
 */
export function wrongWithAnswer(
	operation: OperationId,
	status: number,
	body: unknown,
): string | undefined {
	const { answers } = contractOperation(operation);
	if (!answers.has(status)) return `${operation} has no answer with status ${status}`;
	const schema = answers.get(status);
	if (schema === undefined)
		return body === undefined ? undefined : `${operation} answers ${status} with no body`;
	const check = asItIs.compile(schema);
	return check(body) ? undefined : inWords(check.errors ?? [], 'value');
}
