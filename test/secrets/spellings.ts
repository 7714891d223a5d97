/** A password that has a different spelling in JSON, in an address, in HTML and in both kinds of base64. */
export const PASSWORD = 'pass"wörd /7&%<secret>\\~~~???>>>';

const inJson = (text: string) => JSON.stringify(text).slice(1, -1);
const hex = (text: string) => Buffer.from(text).toString('hex');
const escapes = (text: string) =>
	text.replace(/[^]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
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
];

/** Returns every text that shows that a secret was left behind. */
export const spellingsOf = (secret: string): string[] => [
	...new Set(spellings.map(([, spell]) => spell(secret))),
];
