import type { SecretPattern } from './secretSearch';
import { SecretSearch } from './secretSearch';

/**
 * The shortest secret that is looked for, and the least that is taken for a part of one, in characters.
 * Anything shorter is found in ordinary words: a text without its "a" can't be read, and says what is missing.
 */
const MIN_LENGTH = 4;

/** How many tokens are remembered: the last ones. Those before have expired. */
const MAX_TOKENS = 20;

/**
 * The secrets of an account, and what a text is without them: a service may repeat in its answers what it was
 * sent, and nothing that this node says shows it.
 *
 * They are recognised as they are; in JSON, in JSON within JSON, with `\/` and `\uXXXX`; in percent encoding
 * (twice too) and in a form; in HTML; in hex; and in base64 and base64url, also amid other text, such as all of
 * the log-in's body. A password of fewer than four characters is recognised in the log-in's body, and where
 * "password" or the user name stands before it; a shorter token is not.
 */
export class Secrets {
	private readonly ofPassword: string[];
	private readonly tokens: string[] = [];
	private search: SecretSearch | undefined;

	constructor({ userName, password }: { userName?: unknown; password?: unknown }) {
		this.ofPassword = typeof password === 'string' ? textsOf(String(userName), password) : [];
	}

	/** Adds a token; what is no text, or an empty one, is none. */
	add(token: unknown): void {
		if (typeof token !== 'string' || token === '' || this.tokens.includes(token)) return;
		this.tokens.push(token);
		if (this.tokens.length > MAX_TOKENS) this.tokens.shift();
		this.search = undefined;
	}

	/** A text with `***` in place of each secret: for one that is whole, such as a name. */
	redact(text: string): string {
		return this.searched().redact(text);
	}

	/**
	 * The same for an excerpt from a longer text. Where it begins, ends or has an ellipsis, a secret may have been cut:
	 * there, four of its characters are enough.
	 */
	redactExcerpt(text: string): string {
		return this.searched().redactExcerpt(text);
	}

	private searched(): SecretSearch {
		this.search ??= new SecretSearch(patternsOf([...this.ofPassword, ...this.tokens]));
		return this.search;
	}
}

/** A password; one that is too short, with what it stands beside where it is sent. */
function textsOf(userName: string, password: string): string[] {
	if (password === '') return [];
	if ([...password].length >= MIN_LENGTH) return [password];
	const inJson = JSON.stringify(password);
	return [
		JSON.stringify({ userName, password, type: 'basic' }),
		`"password":${inJson}`,
		`"password": ${inJson}`,
		`password=${password}`,
		`${userName}:${password}`,
	];
}

/** The texts by which secrets are recognised: a search reads through JSON, addresses, forms and HTML on its own. */
function patternsOf(secrets: string[]): SecretPattern[] {
	const patterns = new Map<string, SecretPattern>();
	const add = (text: string, minLength: number, isEmbedded: boolean) =>
		patterns.set(text, { text, chars: [...text], minLength, isEmbedded });
	for (const secret of secrets) {
		if ([...secret].length < MIN_LENGTH) continue;
		// Its backslashes may have been through something else since.
		const inJson = JSON.stringify(secret).slice(1, -1);
		// Half of a surrogate pair is sent as U+FFFD.
		const asSent = Buffer.from(secret).toString();
		for (const text of [secret, inJson]) {
			const bytes = Buffer.from(text);
			const hex = bytes.toString('hex');
			for (const pattern of [hex, hex.toUpperCase()]) add(pattern, 2 * MIN_LENGTH, true);
			for (const pattern of base64Of(bytes)) add(pattern, Math.ceil((MIN_LENGTH * 8) / 6), true);
		}
		for (const text of [secret, inJson, asSent]) add(text, MIN_LENGTH, false);
	}
	return [...patterns.values()];
}

/**
 * What is found of bytes wherever they are in a base64 text, in both of its alphabets. Base64 writes three bytes
 * in four characters: which, depends on how many bytes stand before, and at both ends on their neighbours too.
 */
function base64Of(bytes: Buffer): string[] {
	return [0, 1, 2].flatMap((before) => {
		const text = Buffer.concat([Buffer.alloc(before), bytes]).toString('base64url');
		const own = text.slice(
			Math.ceil((before * 8) / 6),
			Math.floor(((before + bytes.length) * 8) / 6),
		);
		return [own, own.replaceAll('-', '+').replaceAll('_', '/')];
	});
}
