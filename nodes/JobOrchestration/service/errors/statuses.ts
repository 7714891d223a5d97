import { truncate } from '../../texts';
import type { ServiceRequest, StatusRow } from '../request';
import { type Consequence, isIn } from '../policy';
import { throttledTitle } from './failure';
import type { Answer } from './said';

/** The settings of n8n that name a proxy, as a text for users. Their values may contain a password. */
export const PROXIES = "n8n's settings HTTP_PROXY and HTTPS_PROXY";

/** The status codes by which a service says that a value of the request is wrong (RFC 9110). */
const WRONG_VALUE = '400 404 409-410 413-414 422';

/**
 * Decides whether the value of a field may be the reason for a failure with this status code.
 *
 * @param status null if there was no response; undefined if the node itself has found the fault
 */
export const mayBeWrongValue = (status: number | null | undefined) =>
	status === undefined || (status !== null && isIn(WRONG_VALUE, status));

/**
 * Returns what a response that isn't the expected one means to the user: the texts of the first row that applies. What
 * isn't the service's own answer comes first, then what the request says of a status, and then what applies to all
 * requests. These texts are those of single statuses that help more than "The service refused to ...".
 *
 * @param location the target of a redirect, or an empty text
 */
export function textsOf(
	{ status, kind, saysFailed }: Answer,
	{ condition, mayHaveActed }: Consequence,
	{ errorTexts, expected, idempotent }: ServiceRequest<unknown>,
	{ baseUrl, location }: { baseUrl: string; location: string },
): { title: string; advice: string } {
	const { action, ifRefused, ifConflict = ifRefused, rows = [] } = errorTexts(baseUrl);
	/*
	 * For an https address, n8n asks its proxy for a connection (CONNECT). If the proxy refuses, n8n's HTTP client passes
	 * the proxy's response on as if it were the service's (https-proxy-agent).
	 */
	const mayBeByProxy = kind !== 'a list' && kind !== 'an object' && baseUrl.startsWith('https:');
	const hasFailed = saysFailed !== undefined;
	const refused = `The service refused to ${action}`;
	const all: StatusRow[] = [
		[
			'400-599',
			throttledTitle(status),
			"Try again later. If that doesn't help, ask the administrator of the service.",
			condition === 'throttled' && !mayHaveActed,
		],
		[
			'407',
			'A proxy before the service wants a login',
			`Add the user and the password of the proxy to its address in ${PROXIES}, as in http://user:password@proxy:8080.`,
		],
		[
			'403 405',
			`The service or a proxy refused to ${action}`,
			`If n8n uses a proxy (${PROXIES}), ask its administrator whether it allows ${baseUrl}. Otherwise, ask the administrator of the service whether the user is allowed to ${action}.`,
			mayBeByProxy,
		],
		...rows,
		['200-299', refused, ifRefused, hasFailed && (idempotent || !mayHaveActed)],
		[
			'200-299 304',
			`The service answered with ${kind} instead of ${expected}`,
			"Check that the 'Base URL' in the credential is the service's own address, and that no proxy or login page answers instead.",
			!hasFailed,
		],
		[
			'300-399',
			`The service redirects to ${truncate(location) || 'another address'}`,
			"If the service has a new address, enter it as the 'Base URL' in the credential, up to the part before /api or /oauth.",
		],
		[
			'413-414 431 494',
			'What was sent is too large for the service',
			"Make this node's fields shorter, or ask the administrator to raise the limit of the service, or of the proxy before it. For too large headers, use another user: the token of a user in many groups is long.",
		],
		[
			'400-407 409-499',
			`The service or something before it refused to ${action}`,
			`Check the 'Base URL' in the credential, and ask the administrator of the network whether a firewall or a proxy blocks n8n (User-Agent: n8n).`,
			kind === 'an HTML page',
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
			'100-299 408 500-999',
			`The service failed to ${action}`,
			"The fault is on the service's side. Try again later. If that doesn't help, tell the administrator of the service.",
		],
		['409', refused, ifConflict],
		[WRONG_VALUE, refused, ifRefused],
	];
	const otherwise =
		"Ask the administrator of the service for the reason. If no request has worked yet, check the 'Base URL' in the credential.";
	const found = all.find(([list, , , applies = true]) => applies && isIn(list, status));
	const [, title = refused, advice = otherwise] = found ?? [];
	return { title, advice };
}
