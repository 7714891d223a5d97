/*
 * Jest gives each test file modules of its own. Loading n8n's engine takes longer than what most files test with
 * it, so it is loaded once for all of them, and so is what the sandbox is built on. What is built here, and n8n's
 * loader, which loads it, are each file's own.
 */
declare const requireOnce: NodeJS.Require | undefined;

const shared = [
	'n8n-core',
	'n8n-workflow',
	'@n8n/di',
	'@n8n/backend-common',
	'fastify',
	'ajv',
	'ajv/dist/2020',
	'ajv-formats',
	'yaml',
];

if (typeof requireOnce === 'function') {
	// As n8n's engine finds them: it has some of its own.
	const paths = [requireOnce.resolve('n8n-core')];
	for (const name of shared) {
		const path = requireOnce.resolve(name, { paths });
		jest.doMock(path, () => requireOnce(path) as unknown);
	}
}
