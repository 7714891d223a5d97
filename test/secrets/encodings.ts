/** How a secret looks once it has been through something. What a service repeats may have been through any of these. */
export const encodings: Array<[name: string, encode: (text: string) => string]> = [
	['as it is', (text) => text],
	['JSON', inJson],
	['JSON within JSON', (text) => inJson(inJson(text))],
	['JSON with escaped slashes', (text) => inJson(text).replaceAll('/', '\\/')],
	['JSON within JSON, with escaped slashes', (text) => inJson(inJson(text)).replaceAll('/', '\\/')],
	['escapes', (text) => units(text, (unit) => `\\u${hex(unit, 4)}`)],
	['escapes in upper case', (text) => units(text, (unit) => `\\u${hex(unit, 4).toUpperCase()}`)],
	['escapes of bytes', (text) => bytes(text, (byte) => `\\x${hex(byte, 2)}`, 'latin1')],
	['percent encoding', encodeURIComponent],
	['percent encoding of an address', encodeURI],
	['percent encoding in lower case', (text) => encodeURIComponent(text).replace(/%../g, lower)],
	['percent encoding twice', (text) => encodeURIComponent(encodeURIComponent(text))],
	['percent encoding of all', (text) => bytes(text, (byte) => `%${hex(byte, 2).toUpperCase()}`)],
	['percent encoding of JSON', (text) => encodeURIComponent(inJson(text))],
	['form encoding', (text) => new URLSearchParams({ a: text }).toString().slice(2)],
	['HTML', inHtml],
	['HTML within JSON', (text) => inHtml(text).replaceAll('&', '\\u0026')],
	['HTML of HTML', (text) => inHtml(inHtml(text))],
	['decimal entities', (text) => codePoints(text, (code) => `&#${code};`)],
	['hexadecimal entities', (text) => codePoints(text, (code) => `&#x${code.toString(16)};`)],
	['hex', (text) => Buffer.from(text).toString('hex')],
	['hex in upper case', (text) => Buffer.from(text).toString('hex').toUpperCase()],
	['base64', (text) => Buffer.from(text).toString('base64')],
	['base64url', (text) => Buffer.from(text).toString('base64url')],
	['base64 behind one byte', (text) => Buffer.from(`?${text}?`).toString('base64')],
	['base64 behind two bytes', (text) => Buffer.from(`?>${text}`).toString('base64')],
	['base64 of a user and a password', (text) => Buffer.from(`demo:${text}`).toString('base64')],
	["base64 of the log-in's body", (text) => Buffer.from(logInBody(text)).toString('base64')],
	["base64url of the log-in's body", (text) => Buffer.from(logInBody(text)).toString('base64url')],
];

/** All that a trace of a secret may look like. Of base64, what stays the same whatever stands beside the secret. */
export function formsOf(secret: string): string[] {
	const written = encodings
		.filter(([name]) => !/behind| of a user|body/.test(name))
		.map(([, encode]) => encode(secret));
	const amid = [secret, inJson(secret)].flatMap((text) =>
		['', '?', '??'].flatMap((before) => {
			const own = Buffer.from(`${before}${text}`).toString('base64url').slice(4, -1);
			return [own, own.replaceAll('-', '+').replaceAll('_', '/')];
		}),
	);
	return [...new Set([...written, ...amid])];
}

/** The body of a log-in as it is sent. */
function logInBody(password: string): string {
	return JSON.stringify({ userName: 'demo', password, type: 'basic' });
}

export function inHtml(text: string): string {
	return text
		.replaceAll('&', '&amp;')
		.replaceAll('<', '&lt;')
		.replaceAll('>', '&gt;')
		.replaceAll('"', '&quot;');
}

function inJson(text: string): string {
	return JSON.stringify(text).slice(1, -1);
}

const lower = (text: string) => text.toLowerCase();

const hex = (code: number, digits: number) => code.toString(16).padStart(digits, '0');

function units(text: string, write: (unit: number) => string): string {
	return text
		.split('')
		.map((char) => write(char.charCodeAt(0)))
		.join('');
}

function codePoints(text: string, write: (code: number) => string): string {
	return [...text].map((char) => write(char.codePointAt(0) ?? 0)).join('');
}

function bytes(text: string, write: (byte: number) => string, as?: BufferEncoding): string {
	return [...Buffer.from(text, as)].map(write).join('');
}
