/** The replacement for a text that contains a secret. */
const WITHHELD = '(not shown: contains a secret)';

/** The number of remembered tokens. Earlier ones have expired. */
const MAX_TOKENS = 2;

/** The number of characters of a secret that are searched for. A longer secret may lie in a text that was cut off. */
const MAX_SEARCHED = 1_000;

/** The maximum number of characters of a text that an error uses. */
export const MAX_READ = 10_000;

/** Recognises the password and the newest tokens of an account, which no text of this node repeats from a response. */
export class Secrets {
	/** The tokens, the newest last. */
	private readonly tokens = new Set<string>();

	constructor(private readonly password: string) {}

	/** Adds a token. A value that is not a text is ignored. */
	add(token: unknown): void {
		if (typeof token !== 'string') return;
		this.tokens.delete(token);
		this.tokens.add(token);
		const [oldest = ''] = this.tokens;
		if (this.tokens.size > MAX_TOKENS) this.tokens.delete(oldest);
	}

	/** Decides whether a text contains a secret as it is, in JSON (also within a text in JSON), or percent-encoded. */
	areIn(text: string): boolean {
		const decoded = fromJson(text);
		// In a form, but not in a path, a plus sign stands for a space.
		const encoded = [decoded, decoded.replaceAll('+', ' ')];
		const forms = [text, decoded, fromJson(decoded), ...encoded.map(fromPercent)];
		// A text may have been trimmed.
		const secrets = [this.password.trim(), ...this.tokens].filter((secret) => secret !== '');
		const searched = secrets.map((secret) => secret.slice(0, MAX_SEARCHED));
		return searched.some((secret) => forms.some((form) => form.includes(secret)));
	}

	/** Returns the beginning of a text, or a note that it isn't shown if it contains a secret. */
	redact(text: string): string {
		// The search goes beyond the part that is used, so that it finds a secret that lies across the limit.
		return this.areIn(text.slice(0, 2 * MAX_READ)) ? WITHHELD : text.slice(0, MAX_READ);
	}
}

const fromJson = (text: string) =>
	text.replace(/\\(?:u[\da-fA-F]{4}|["\\/bfnrt])/g, (escaped) =>
		String(JSON.parse(`"${escaped}"`)),
	);

/** Decodes the percent encoding of a URL or a form. */
const fromPercent = (text: string) =>
	text.replace(/(?:%[\da-f]{2})+/gi, (bytes) =>
		Buffer.from(bytes.replaceAll('%', ''), 'hex').toString(),
	);
