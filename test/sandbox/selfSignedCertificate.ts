import { generate } from 'selfsigned';

/** A key and a certificate for 127.0.0.1 that nobody has signed but itself, both PEM. */
export async function selfSignedCertificate(): Promise<{ key: string; cert: string }> {
	const { private: key, cert } = await generate([{ name: 'commonName', value: 'sandbox' }], {
		keyType: 'ec',
		extensions: [{ name: 'subjectAltName', altNames: [{ type: 7, ip: '127.0.0.1' }] }],
	});
	return { key, cert };
}
