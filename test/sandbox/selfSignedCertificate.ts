import { generateKeyPairSync, randomBytes, sign } from 'node:crypto';

/** A key and a certificate for it that nobody has signed but itself, both PEM. Good for an hour, for 127.0.0.1. */
export function selfSignedCertificate(): { key: string; cert: string } {
	const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
	const now = Date.now();
	const signedPart = sequence(
		der(0xa0, der(0x02, Buffer.from([2]))),
		der(0x02, Buffer.concat([Buffer.from([1]), randomBytes(8)])),
		ecdsaWithSha256,
		nobody,
		sequence(utcTime(now - hour), utcTime(now + hour)),
		nobody,
		publicKey.export({ type: 'spki', format: 'der' }),
		der(0xa3, sequence(sequence(subjectAltName, der(0x04, sequence(der(0x87, loopback)))))),
	);
	const signature = sign('sha256', signedPart, privateKey);
	const certificate = sequence(
		signedPart,
		ecdsaWithSha256,
		der(0x03, Buffer.concat([Buffer.from([0]), signature])),
	);
	return {
		key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
		cert: `-----BEGIN CERTIFICATE-----\n${certificate.toString('base64')}\n-----END CERTIFICATE-----\n`,
	};
}

const hour = 3_600_000;
const loopback = Buffer.from([127, 0, 0, 1]);
const ecdsaWithSha256 = sequence(der(0x06, Buffer.from('2a8648ce3d040302', 'hex')));
const subjectAltName = der(0x06, Buffer.from('551d11', 'hex'));
const commonName = der(0x06, Buffer.from('550403', 'hex'));
const nobody = sequence(der(0x31, sequence(commonName, der(0x0c, Buffer.from('sandbox')))));

function utcTime(at: number): Buffer {
	const digits = new Date(at).toISOString().replaceAll(/\D/g, '');
	return der(0x17, Buffer.from(`${digits.slice(2, 14)}Z`));
}

function sequence(...parts: Buffer[]): Buffer {
	return der(0x30, Buffer.concat(parts));
}

/** A tag, a length and a content, as DER has them. */
function der(tag: number, content: Buffer): Buffer {
	const { length } = content;
	const lengthBytes =
		length < 128 ? [length] : length < 256 ? [0x81, length] : [0x82, length >> 8, length & 255];
	return Buffer.concat([Buffer.from([tag, ...lengthBytes]), content]);
}
