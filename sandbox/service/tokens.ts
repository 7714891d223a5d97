import { randomBytes } from 'node:crypto';

import { Refusal } from './refusal';

/** Issues access tokens and checks them. */
export class Tokens {
	/** When each access token expires, in milliseconds since the epoch. */
	private readonly good = new Map<string, number>();

	/** The number of tokens that were issued. */
	issued = 0;

	/**
	 * @param lifetime seconds until a token expires
	 * @param oneSession whether a new token ends all earlier tokens
	 */
	constructor(
		private readonly lifetime: number,
		private readonly oneSession = false,
	) {}

	/** Issues a token, and returns it in the form of the contract's schema `Token`. */
	issue() {
		if (this.oneSession) this.expireAll();
		const token = {
			access_token: randomBytes(24).toString('base64url'),
			token_type: 'Bearer',
			refresh_token: randomBytes(24).toString('base64url'),
			expires_in: this.lifetime,
		};
		this.good.set(token.access_token, Date.now() + this.lifetime * 1000);
		this.issued += 1;
		return token;
	}

	/** @throws Refusal 401, if the token is missing, unknown or expired */
	check(token: string | undefined): void {
		if (token === undefined) {
			const message = "The header 'Authorization: Bearer <access_token>' is missing";
			throw new Refusal(401, 'no_token', message);
		}
		if (!this.isGood(token)) {
			throw new Refusal(401, 'invalid_token', 'The access token is unknown or has expired');
		}
	}

	/** Returns whether the token was issued and hasn't expired. */
	isGood(token: string): boolean {
		return (this.good.get(token) ?? 0) > Date.now();
	}

	/** Makes all tokens expire that have been issued so far. */
	expireAll(): void {
		this.good.clear();
	}
}
