/** What is shown instead of a short text that contains a secret. */
export const WITHHELD = '(not shown: contains a secret)';

/** The fewest characters of a secret. With fewer, ordinary words would contain it. */
const MIN_LENGTH = 4;

/** Tokens that are remembered. Earlier ones have expired, and each one makes the search longer. */
const MAX_TOKENS = 20;

/** Encodings of encodings that are undone. A service that puts JSON into an address in JSON needs three. */
const MAX_LAYERS = 4;

/** Characters of a text that an error may use. */
export const MAX_READ = 10_000;

const ENTITIES: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };

/** The password and the tokens of an account, which no text of this node repeats if the service does. */
export class Secrets {
	private readonly ofPassword: string[];
	private readonly ofTokens = new Map<string, string[]>();

	constructor({ userName, password }: { userName?: unknown; password?: unknown }) {
		const texts = typeof password === 'string' ? textsOf(String(userName), password) : [];
		this.ofPassword = texts.flatMap(spellingsOf);
	}

	/** Adds a token. Anything but a text is ignored. */
	add(token: unknown): void {
		if (typeof token !== 'string' || this.ofTokens.has(token)) return;
		this.ofTokens.set(token, token.length < MIN_LENGTH ? [] : spellingsOf(token));
		const [oldest = ''] = this.ofTokens.keys();
		if (this.ofTokens.size > MAX_TOKENS) this.ofTokens.delete(oldest);
	}

	/** Whether a text contains a secret: as is, or in JSON, percent encoding, a form, HTML, base64 or hex. */
	areIn(text: string): boolean {
		// More is searched than is used, so that a secret across that limit is found.
		const start = text.slice(0, 2 * MAX_READ);
		const texts = [start, decode(start)];
		return [this.ofPassword, ...this.ofTokens.values()]
			.flat()
			.some((spelling) => texts.some((form) => form.includes(spelling)));
	}

	/** A text, or a note that it isn't shown. */
	redact(text: string): string {
		return this.areIn(text) ? WITHHELD : text.slice(0, MAX_READ);
	}
}

/** The texts by which a password is recognised: if it is very short, only where it is named or follows the user. */
function textsOf(userName: string, password: string): string[] {
	if (password === '') return [];
	if (password.length >= MIN_LENGTH) return [password];
	const quoted = JSON.stringify(password);
	const named = [`"password":${quoted}`, `"password": ${quoted}`, `password=${password}`];
	return [...named, `${userName}:${password}`];
}

/** A secret as it may be part of a text or of a decoded text. */
function spellingsOf(secret: string): string[] {
	const written = [secret, JSON.stringify(secret).slice(1, -1)];
	const encoded = written.flatMap((text) => {
		const hex = Buffer.from(text).toString('hex');
		return [hex, hex.toUpperCase(), ...[0, 1, 2].flatMap((before) => base64Of(text, before))];
	});
	const spellings = [...written, ...encoded].flatMap((text) => [text, decode(text)]);
	return [...new Set(spellings)].filter(({ length }) => length >= MIN_LENGTH);
}

/** What is the same in each base64 and base64url text that contains it after this number of other bytes. */
function base64Of(text: string, before: number): string[] {
	const bytes = Buffer.concat([Buffer.alloc(before), Buffer.from(text)]);
	const whole = bytes.toString('base64url');
	const own = whole.slice(Math.ceil((before * 8) / 6), Math.floor((bytes.length * 8) / 6));
	return [own, own.replaceAll('-', '+').replaceAll('_', '/')];
}

/** A text without percent encoding, escapes of JSON and entities of HTML, however often they were applied. */
function decode(text: string): string {
	let decoded = text;
	for (let layer = 0; layer < MAX_LAYERS && /[%&\\+]/.test(decoded); layer += 1) {
		decoded = decoded
			.replace(/(?:%[\da-f]{2})+/gi, (bytes) =>
				Buffer.from(bytes.replaceAll('%', ''), 'hex').toString(),
			)
			.replace(/\\+/g, '\\')
			.replace(/\\u([\da-f]{4})|&#x([\da-f]{1,5});/gi, (_, unit?: string, hex = '') =>
				String.fromCodePoint(Number.parseInt(unit ?? String(hex), 16)),
			)
			.replace(/&#(\d{1,6});/g, (_, code) => String.fromCodePoint(Number(code)))
			.replace(/&(amp|lt|gt|quot|apos);/g, (_, name: string) => ENTITIES[name] ?? '')
			.replace(/\\[bfnrt]|[\b\f\n\r\t+]/g, ' ')
			.replaceAll('\\', '');
	}
	return decoded;
}
