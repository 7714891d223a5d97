import { randomBytes } from 'node:crypto';

import { Refusal } from './refusal';

/** The access tokens that are good at the moment. */
export class Tokens {
	/** Token to the time (milliseconds) at which it expires. */
	private readonly good = new Map<string, number>();

	/** How many tokens were given out. */
	issued = 0;

	/**
	 * @param lifetime seconds until a token expires
	 * @param oneSession whether a new token ends the one before it
	 */
	constructor(
		private readonly lifetime: number,
		private readonly oneSession = false,
	) {}

	/** Gives out another token. */
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

	/**
	 * Passes a token that is good.
	 * @throws Refusal 401, when it is missing, unknown or has expired
	 */
	check(token: string | undefined): void {
		if (token === undefined) {
			const message = "The header 'Authorization: Bearer <access_token>' is missing";
			throw new Refusal(401, 'no_token', message);
		}
		if (!this.isGood(token)) {
			throw new Refusal(401, 'invalid_token', 'The access token is unknown or has expired');
		}
	}

	/** Whether a token was given out and has not expired. */
	isGood(token: string): boolean {
		return (this.good.get(token) ?? 0) > Date.now();
	}

	/** Ends every token given out so far. */
	expireAll(): void {
		this.good.clear();
	}
}
