/**
 * Returns what is wrong with a certificate, and what to do about it.
 *
 * @param code the error code of Node.js, or the error's text where n8n 1.x has only that
 */
export function certificateFault(code: string): [reason: string, advice: string] {
	if (/expired|not_yet_valid/i.test(code))
		return [
			'the certificate has expired, or is not valid yet',
			'Have the certificate of the service renewed, and check the clock of this n8n.',
		];
	if (/altname|hostname/i.test(code))
		return [
			'the certificate is for other host names',
			"Check the 'Base URL' in the credential: its host must be in the certificate.",
		];
	return [
		'the issuer of the certificate is unknown',
		'Give the service a certificate that this n8n trusts, or make n8n trust it (NODE_EXTRA_CA_CERTS).',
	];
}
