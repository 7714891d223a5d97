import type { ErrorObject } from 'ajv/dist/2020';

/**
 * Says in words what is wrong with a message.
 * @param part what was checked, such as `body`; the fields are named from there, `body.job.group`
 * @param errors what the check found
 */
export function explain(part: string, errors: readonly ErrorObject[]): string {
	return [...new Set(errors.map((error) => explainOne(part, error)))].join('; ');
}

function explainOne(part: string, error: ErrorObject): string {
	const field = fieldName(part, error.instancePath);
	const params: Record<string, unknown> = error.params;
	switch (error.keyword) {
		case 'required':
			return `${member(field, String(params['missingProperty']))} is missing`;
		case 'additionalProperties':
			return `${member(field, String(params['additionalProperty']))} is not a field that the contract knows`;
		case 'type':
			return `${field} must be ${kinds(params['type'])}`;
		case 'enum':
			return `${field} must be one of ${values(params['allowedValues'])}`;
		case 'minLength':
			return `${field} must not be empty`;
		case 'minimum':
			return `${field} must be ${String(params['limit'])} or more`;
		default:
			return `${field} ${error.message ?? 'is wrong'}`;
	}
}

/** `/job/inputs/0/id` in `body` is `body.job.inputs[0].id`. */
function fieldName(part: string, instancePath: string): string {
	return instancePath
		.split('/')
		.slice(1)
		.map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'))
		.reduce(member, part);
}

function member(field: string, step: string): string {
	if (/^\d+$/.test(step)) return `${field}[${step}]`;
	return /^[A-Za-z_$][\w$]*$/.test(step) ? `${field}.${step}` : `${field}.'${step}'`;
}

function kinds(type: unknown): string {
	const names: Record<string, string> = {
		string: 'text',
		number: 'a number',
		integer: 'a whole number',
		boolean: 'true or false',
		object: 'an object',
		array: 'a list',
		null: 'null',
	};
	return [type]
		.flat()
		.map((name) => names[String(name)] ?? String(name))
		.join(' or ');
}

function values(allowed: unknown): string {
	return [allowed].flat().map(String).join(', ');
}
