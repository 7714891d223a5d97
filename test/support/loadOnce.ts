/*
 * Jest gives each test file modules of its own. Loading n8n's engine takes longer than what most files test with
 * it, so it is loaded once for all of them, and so is what the sandbox and the tests are built on. What is built here,
 * and n8n's loader, which loads it, are each file's own.
 */
declare const requireOnce: NodeJS.Require | undefined;

/** By the names that the engine knows them by, whose folder N8N_UNDER_TEST may name (test/versions). */
const ofEngine = [
	'n8n-core',
	// test/versions stops it.
	'n8n-core/dist/execution-engine/ssh-clients-manager',
	'n8n-workflow',
	'@n8n/di',
	'@n8n/backend-common',
];
const ofTests = ['fast-check', 'fastify', 'ajv', 'ajv/dist/2020', 'ajv-formats', 'yaml'];

if (typeof requireOnce === 'function') {
	const { N8N_UNDER_TEST: otherFolder } = process.env;
	const options = otherFolder === undefined ? undefined : { paths: [otherFolder] };
	const engine = requireOnce.resolve('n8n-core', options);
	const share = (name: string, path: string) => {
		const load = () => requireOnce(path) as unknown;
		jest.doMock(path, load);
		// As jest.config.js of test/versions maps it.
		if (otherFolder !== undefined && name !== path) jest.doMock(name, load);
	};
	for (const name of ofEngine) share(name, requireOnce.resolve(name, { paths: [engine] }));
	for (const name of ofTests) share(name, requireOnce.resolve(name));
}
