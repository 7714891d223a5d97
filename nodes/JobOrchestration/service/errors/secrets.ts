/** What is shown instead of a short text that contains a secret. */
export const WITHHELD = '(not shown: contains a secret)';

/** The fewest characters of a secret. With fewer, ordinary words would contain it. */
const MIN_LENGTH = 4;

/** Tokens that are remembered. Earlier ones have expired, and each one makes the search longer. */
const MAX_TOKENS = 20;

/** Characters of a text that an error may use. */
export const MAX_READ = 10_000;

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

	/** Which secret is in a text, in its JSON or its percent encoding undone once: as is, or in base64. */
	findIn(text: string): 'password' | 'token' | undefined {
		const texts = [text, fromJson(text), fromPercent(text)];
		const areIn = (spellings: string[]) =>
			spellings.some((spelling) => texts.some((form) => form.includes(spelling)));
		if (areIn(this.ofPassword)) return 'password';
		return areIn([...this.ofTokens.values()].flat()) ? 'token' : undefined;
	}

	/** A text, or a note that it isn't shown. */
	redact(text: string): string {
		// More is searched than is used, so that a secret across that limit is found.
		const isSafe = this.findIn(text.slice(0, 2 * MAX_READ)) === undefined;
		return isSafe ? text.slice(0, MAX_READ) : WITHHELD;
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

/** A secret as is, and what is the same in each base64 and base64url text that contains it, after any other bytes. */
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

/** Percent encoding undone, of an address or a form. */
const fromPercent = (text: string) =>
	text
		.replaceAll('+', ' ')
		.replace(/(?:%[\da-f]{2})+/gi, (bytes) =>
			Buffer.from(bytes.replaceAll('%', ''), 'hex').toString(),
		);
