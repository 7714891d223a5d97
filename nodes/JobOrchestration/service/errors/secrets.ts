/** The replacement for a text that contains a secret. */
export const WITHHELD = '(not shown: contains a secret)';

/** The minimum length of a secret that is searched for. Ordinary words would contain a shorter one. */
const MIN_LENGTH = 4;

/** The maximum number of remembered tokens. Earlier tokens have expired, and each token makes the search longer. */
const MAX_TOKENS = 20;

/** The maximum number of characters of a text that an error uses. */
export const MAX_READ = 10_000;

/** Recognises the password and the tokens of an account, so that no text of this node repeats them from a response. */
export class Secrets {
	private readonly ofPassword: string[];
	private readonly ofTokens = new Map<string, string[]>();

	constructor({ userName, password }: { userName?: unknown; password?: unknown }) {
		const texts = typeof password === 'string' ? textsOfPassword(String(userName), password) : [];
		this.ofPassword = texts.flatMap(spellingsOf);
	}

	/** Adds a token. A value that is not a string is ignored. */
	add(token: unknown): void {
		if (typeof token !== 'string' || this.ofTokens.has(token)) return;
		this.ofTokens.set(token, token.length < MIN_LENGTH ? [] : spellingsOf(token));
		const [oldest = ''] = this.ofTokens.keys();
		if (this.ofTokens.size > MAX_TOKENS) this.ofTokens.delete(oldest);
	}

	/**
	 * Returns which secret a text contains, as it is or in base64. The text is searched as it is, with its JSON escapes
	 * decoded once, and with its percent encoding decoded once.
	 */
	findIn(text: string): 'password' | 'token' | undefined {
		const texts = [text, fromJson(text), fromPercent(text)];
		const areIn = (spellings: string[]) =>
			spellings.some((spelling) => texts.some((form) => form.includes(spelling)));
		if (areIn(this.ofPassword)) return 'password';
		return areIn([...this.ofTokens.values()].flat()) ? 'token' : undefined;
	}

	/** Returns a text if it contains no secret, or else a note that it isn't shown. */
	redact(text: string): string {
		// The search goes beyond the part that is used, so that it finds a secret that lies across the limit.
		const isSafe = this.findIn(text.slice(0, 2 * MAX_READ)) === undefined;
		return isSafe ? text.slice(0, MAX_READ) : WITHHELD;
	}
}

/**
 * Returns the texts by which a password is recognised. A very short password is recognised only where it is named as
 * the password, or where it follows the user name.
 */
function textsOfPassword(userName: string, password: string): string[] {
	if (password === '') return [];
	if (password.length >= MIN_LENGTH) return [password];
	const quoted = JSON.stringify(password);
	const named = [`"password":${quoted}`, `"password": ${quoted}`, `password=${password}`];
	return [...named, `${userName}:${password}`];
}

/**
 * Returns a secret as it is, and those parts of its base64 and base64url encodings that are the same whatever bytes
 * precede and follow the secret.
 */
function spellingsOf(secret: string): string[] {
	const encoded = [0, 1, 2].flatMap((before) => {
		const bytes = Buffer.concat([Buffer.alloc(before), Buffer.from(secret)]);
		const whole = bytes.toString('base64url');
		const own = whole.slice(Math.ceil((before * 8) / 6), Math.floor((bytes.length * 8) / 6));
		return [own, own.replaceAll('-', '+').replaceAll('_', '/')];
	});
	return [secret, ...encoded].filter(({ length }) => length >= MIN_LENGTH);
}

const fromJson = (text: string) =>
	text.replace(/\\(?:u[\da-fA-F]{4}|["\\/bfnrt])/g, (escaped) =>
		String(JSON.parse(`"${escaped}"`)),
	);

/** Decodes the percent encoding of a URL or a form. */
const fromPercent = (text: string) =>
	text
		.replaceAll('+', ' ')
		.replace(/(?:%[\da-f]{2})+/gi, (bytes) =>
			Buffer.from(bytes.replaceAll('%', ''), 'hex').toString(),
		);
