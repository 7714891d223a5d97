import { partAt } from '../../sandbox/contract/contract';

/** What the contract's schemas use of JSON Schema. */
export interface Schema {
	$ref?: string;
	type?: string | string[];
	required?: string[];
	properties?: Record<string, Schema>;
	additionalProperties?: boolean | Schema;
	items?: Schema;
	enum?: string[];
	minLength?: number;
	minimum?: number;
	format?: string;
}

/** The schema to which a reference leads. */
export function schemaAt(where: string): Schema {
	return partAt(where) as Schema;
}
