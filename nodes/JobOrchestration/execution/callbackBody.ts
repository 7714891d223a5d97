import type { IDataObject, IWebhookFunctions } from 'n8n-workflow';

import { isJsonObject } from '../json';

type Body = IDataObject[string];

/** n8n's request, as far as it is needed here. */
interface RawRequest {
	/** Reads the body, unless n8n has. */
	readRawBody: () => Promise<void>;
	rawBody?: Uint8Array;
	/** The charset that the content type names, or `utf-8`. */
	encoding?: string;
}

/**
 * What a callback says. JSON is parsed, whatever the content type is: a job's template rarely sets it right, and n8n
 * would lose the result. Never null, which means that no call came.
 *
 * @returns text that isn't JSON as it is, a form's fields, `{}` for no body, `{ contentType, bytes }` for what isn't text
 */
export async function readBody(context: IWebhookFunctions): Promise<Body> {
	const contentType = context.getHeaderData()['content-type'] ?? '';
	if (/^multipart\/form-data/i.test(contentType)) return fieldsOf(context.getBodyData());

	const request: RawRequest = context.getRequestObject();
	await request.readRawBody();
	const bytes = request.rawBody ?? new Uint8Array();
	const text = decode(bytes, 'utf-8') ?? decode(bytes, request.encoding);
	if (text === undefined) return { contentType, bytes: bytes.length };
	if (text.trim() === '') return {};
	try {
		const json: Body = JSON.parse(text);
		return json ?? {};
	} catch {
		const isForm = /^application\/x-www-form-urlencoded/i.test(contentType) && text.includes('=');
		return isForm ? { ...context.getBodyData() } : text;
	}
}

function decode(bytes: Uint8Array, charset?: string): string | undefined {
	try {
		const text = new TextDecoder(charset, { fatal: true }).decode(bytes);
		return text.includes('\0') ? undefined : text;
	} catch {
		return undefined;
	}
}

/** A multipart form: n8n has put its files into temporary ones, whose paths are not shown. */
function fieldsOf({ data, files }: IDataObject): Body {
	const entries = Object.entries(isJsonObject(files) ? files : {});
	const sizes = entries.map(([name, file]) => [name, [file].flat().map(sizeOf)]);
	return { ...(isJsonObject(data) ? data : {}), ...Object.fromEntries(sizes) };
}

function sizeOf(file: unknown): Body {
	const { mimetype, size } = isJsonObject(file) ? file : {};
	return { contentType: mimetype, bytes: size };
}
