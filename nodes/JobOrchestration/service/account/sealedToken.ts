import { scryptSync } from 'node:crypto';

import type { Account } from './account';
import { byAccount } from './byAccount';

/*
 * n8n stores the token in the credential and goes on sending it after the address, the user or the password was
 * edited. So it is stored with a seal of its account: `<seal>.<token>`.
 *
 * The seal is stored in the same encrypted record as the password, so it tells nothing to whoever can read
 * it. Only where the password is an expression, for n8n's external secrets, is it not there: that is why the
 * seal is made by scrypt, salted with the rest of the account. That takes some ten milliseconds, once for
 * an account in a process.
 */

/** scrypt's work factor; it takes 4 MB for a moment. */
const WORK = 4096;

const sealOf = byAccount(makeSeal);

/** A token as it is stored. */
export function sealToken(token: string, account: Account): string {
	return `${sealOf(account)}.${token}`;
}

/** The token in what is stored; undefined if there is none, or it is another account's. */
export function unsealToken(stored: unknown, account: Account): string | undefined {
	const token = withoutSeal(stored);
	if (token === undefined) return undefined;
	return stored === sealToken(token, account) ? token : undefined;
}

/** The token in what is stored, whosever it is. */
export function withoutSeal(stored: unknown): string | undefined {
	if (typeof stored !== 'string') return undefined;
	const token = stored.slice(stored.indexOf('.') + 1);
	return token === '' ? undefined : token;
}

function makeSeal({ address, userName, password, ignoreSslIssues }: Account): string {
	const salt = JSON.stringify([address, userName, ignoreSslIssues]);
	return scryptSync(password, salt, 16, { N: WORK }).toString('base64url');
}
