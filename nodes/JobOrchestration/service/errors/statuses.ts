import type { Condition } from '../retry/facts';
import { truncate } from '../../texts';
import { isIn } from '../retry/policy';
import type { RequestTexts, StatusRow, Texts } from './failure';

/** The settings of n8n that name a proxy, as a text for users. Their values may contain a password. */
export const PROXIES = "n8n's settings HTTP_PROXY and HTTPS_PROXY";

/**
 * Returns what an unexpected response means to the user. The request's own rows come before the general ones. The texts
 * here are those of single statuses that help more than "The service refused to ...".
 *
 * @param status the status code, or the one that stands for what a successful response says
 * @param received describes the response that came, and `expected` the one that was expected
 * @param location the target of a redirect, or an empty text
 */
export function textsOf(
	answer: Record<'received' | 'expected' | 'location' | 'baseUrl', string> & {
		status: number;
		condition: Condition;
		bodyType: 'page' | 'text' | 'json';
	},
	{ action, ifRefused, rows = [] }: RequestTexts,
): Texts {
	const { status, condition, bodyType, received, expected, location, baseUrl } = answer;
	/*
	 * For an https address, n8n asks its proxy for a connection (CONNECT). If the proxy refuses, n8n's HTTP client passes
	 * the proxy's response on as if it were the service's (https-proxy-agent).
	 */
	const mayBeByProxy = bodyType !== 'json' && baseUrl.startsWith('https:');
	const all: Array<StatusRow | false> = [
		condition === 'throttled' && [
			'400-599',
			status === 429
				? 'The service is receiving too many requests'
				: 'The service asks to try again later',
			"Try again later. If that doesn't help, ask the administrator of the service.",
		],
		[
			'407',
			'A proxy before the service wants a login',
			`Add the user and the password of the proxy to its address in ${PROXIES}, as in http://user:password@proxy:8080.`,
		],
		mayBeByProxy && [
			'403 405',
			`The service or a proxy refused to ${action}`,
			`If n8n uses a proxy (${PROXIES}), ask its administrator whether it allows ${baseUrl}. Otherwise, ask the administrator of the service whether the user is allowed to ${action}.`,
		],
		...rows,
		[
			'200-299',
			`The service answered with ${received} instead of ${expected}`,
			"Check that the 'Base URL' in the credential is the service's own address, and that no proxy or login page answers instead.",
		],
		[
			'300-399',
			`The service redirects to ${truncate(location) || 'another address'}`,
			"If the service has a new address, enter it as the 'Base URL' in the credential, up to the part before /api or /oauth.",
		],
		[
			'413 431 494',
			'What was sent is too large for the service',
			"Make this node's fields shorter, or ask the administrator to raise the limit of the service, or of the proxy before it. For too large headers, use another user: the token of a user in many groups is long.",
		],
		bodyType === 'page' && [
			'400-499',
			`The service or something before it refused to ${action}`,
			`Check the 'Base URL' in the credential, and ask the administrator of the network whether a firewall or a proxy blocks n8n (User-Agent: n8n).`,
		],
		[
			'401',
			'The service rejected the token that it had just issued',
			`The login works, but its token doesn't. Check that the user is allowed to ${action}, that the clocks of the service's machines agree, and that the 'Base URL' in the credential leads to one service, not to several that each issue their own tokens.`,
		],
		[
			'403',
			`The user isn't allowed to ${action}`,
			"Ask the administrator of the service for the permission, or use the credential of another user. If no request has worked yet, check the 'Base URL' in the credential, too.",
		],
		[
			'408 500-599',
			`The service failed to ${action}`,
			"The fault is on the service's side. Try again later. If that doesn't help, tell the administrator of the service.",
		],
	];
	const otherwise: StatusRow = ['', `The service refused to ${action}`, ifRefused];
	const [, title, advice] = all.find((row) => row && isIn(row[0], status)) || otherwise;
	return { title, advice };
}
