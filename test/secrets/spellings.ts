const inJson = (text: string) => JSON.stringify(text).slice(1, -1);
const hex = (text: string) => Buffer.from(text).toString('hex');
const base64 = (text: string) => Buffer.from(text).toString('base64');
const base64url = (text: string) => Buffer.from(text).toString('base64url');
const escapes = (text: string) =>
	text
		.split('')
		.map((char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`)
		.join('');
/** The encodings in which a service may repeat a secret. */
export const spellings: Array<[name: string, spell: (secret: string) => string]> = [
	['as is', (text) => text],
	['JSON', inJson],
	['JSON with escaped slashes', (text) => inJson(text).replaceAll('/', '\\/')],
	['escapes', escapes],
	['percent encoding', encodeURIComponent],
	['percent encoding of an address', encodeURI],
	[
		'percent encoding in lower case',
		(text) => encodeURIComponent(text).replace(/%../g, (code) => code.toLowerCase()),
	],
	['percent encoding of every byte', (text) => hex(text).replace(/../g, '%$&')],
	['a form', (text) => new URLSearchParams({ a: text }).toString().slice(2)],
	['base64', base64],
	['base64url', base64url],
	['base64 after one byte', (text) => base64(`?${text}?`)],
	['base64 after two bytes', (text) => base64(`?>${text}`)],
	['Basic authentication', (text) => base64(`demo:${text}`)],
];

/**
 * Returns every text that shows that a secret was left behind. For base64, this is the part that doesn't depend on the
 * text around the secret.
 */
export function spellingsOf(secret: string): string[] {
	const amid = [secret, inJson(secret)].flatMap((text) =>
		['', '?', '??'].flatMap((before) => {
			const own = base64url(`${before}${text}`).slice(4, -1);
			return [own, own.replaceAll('-', '+').replaceAll('_', '/')];
		}),
	);
	const alone = spellings.filter(([name]) => !/after|Basic/.test(name));
	return [...new Set([...alone.map(([, spell]) => spell(secret)), ...amid])];
}
