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

/** Characters that are searched: more than are used, so that a secret across that limit is found. */
const MAX_SEARCHED = 2 * MAX_READ;

const ENTITIES: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };

/** The password and the tokens of an account, which no text of this node repeats if the service does. */
export class Secrets {
	private readonly spellingsOfPassword: string[];
	private readonly spellingsOfTokens = new Map<string, string[]>();

	constructor({ userName, password }: { userName?: unknown; password?: unknown }) {
		const texts = typeof password === 'string' ? textsOf(String(userName), password) : [];
		this.spellingsOfPassword = texts.flatMap(spellingsOf);
	}

	/** Adds a token. Anything but a text is ignored. */
	add(token: unknown): void {
		if (typeof token !== 'string' || this.spellingsOfTokens.has(token)) return;
		this.spellingsOfTokens.set(token, token.length < MIN_LENGTH ? [] : spellingsOf(token));
		const [oldest] = this.spellingsOfTokens.keys();
		if (this.spellingsOfTokens.size > MAX_TOKENS) this.spellingsOfTokens.delete(String(oldest));
	}

	/** Whether a text contains a secret: as is, or in JSON, percent encoding, a form, HTML, base64 or hex. */
	areIn(text: string): boolean {
		const start = text.slice(0, MAX_SEARCHED);
		const texts = [start, decode(start)];
		return [this.spellingsOfPassword, ...this.spellingsOfTokens.values()].some((spellings) =>
			spellings.some((spelling) => texts.some((form) => form.includes(spelling))),
		);
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
		return [hex, hex.toUpperCase(), ...base64Of(text)];
	});
	const spellings = [...written, ...encoded].flatMap((text) => [text, decode(text)]);
	return [...new Set(spellings)].filter(({ length }) => length >= MIN_LENGTH);
}

/** What is the same in each base64 and base64url text that contains it, after 0, 1 or 2 other bytes. */
function base64Of(text: string): string[] {
	return [0, 1, 2].flatMap((before) => {
		const bytes = Buffer.concat([Buffer.alloc(before), Buffer.from(text)]);
		const whole = bytes.toString('base64url');
		const own = whole.slice(Math.ceil((before * 8) / 6), Math.floor((bytes.length * 8) / 6));
		return [own, own.replaceAll('-', '+').replaceAll('_', '/')];
	});
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
			.replace(/\\(?:u([\da-f]{4})|x([\da-f]{2}))/gi, (_, unit?: string, byte?: string) =>
				String.fromCharCode(Number.parseInt(unit ?? byte ?? '', 16)),
			)
			.replace(/\\[bfnrt]|[\b\f\n\r\t+]/g, ' ')
			.replaceAll('\\', '')
			.replace(/&#(?:x([\da-f]{1,5})|(\d{1,6}));/gi, (_, hex?: string, decimal?: string) =>
				String.fromCodePoint(hex === undefined ? Number(decimal) : Number.parseInt(hex, 16)),
			)
			.replace(
				/&(amp|lt|gt|quot|apos);/gi,
				(_, name: string) => ENTITIES[name.toLowerCase()] ?? '',
			);
	}
	return decoded;
}
