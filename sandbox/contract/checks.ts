import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020';
import addFormats from 'ajv-formats';
import type { FastifySchemaValidationError } from 'fastify';

import type { OperationId } from '../messages';
import { contractOperation } from './contract';

/** For bodies: they are taken as they are, a text is no number there. */
const asItIs = newAjv(false);

/** For paths and queries: everything is text there, so that a text may stand for a number. */
const fromText = newAjv(true);

function newAjv(coerceTypes: boolean): Ajv2020 {
	const ajv = new Ajv2020({ allErrors: true, allowUnionTypes: true, coerceTypes });
	addFormats(ajv);
	return ajv.addKeyword('x-not-in-interface');
}

/** Makes the check of a part of a request, for Fastify. It turns texts into numbers in place. */
export function compileCheck(schema: object, part: string | undefined): ValidateFunction {
	return (part === 'body' ? asItIs : fromText).compile(schema);
}

/** What a check found, in ajv's words and with what they leave out: which field, which values. */
export function inWords(errors: FastifySchemaValidationError[], part: string): string {
	const sentences = errors.map(({ instancePath, message = '', params }) => {
		const named = [params['additionalProperty'] ?? params['allowedValues'] ?? []].flat();
		return [`${part}${instancePath} ${message}`, named.join(', ')].filter(Boolean).join(': ');
	});
	return sentences.join('; ');
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
	if (schema === undefined)
		return body === undefined ? undefined : `${operation} answers ${status} with no body`;
	const check = asItIs.compile(schema);
	return check(body) ? undefined : inWords(check.errors ?? [], 'value');
}
