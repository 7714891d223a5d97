import type { IDataObject } from 'n8n-workflow';

export type JsonObject = IDataObject;

/** Returns whether a value is a JSON object, which is neither a list nor null. */
export function isJsonObject(value: unknown): value is JsonObject {
	return typeof value === 'object' && value !== null && !Array.isArray(value);
}
