/*
 * Jest loads every module again for each test file. Loading n8n's engine takes longer than most files need to test with
 * it. Therefore, the engine and the libraries of the sandbox and the tests are loaded once for all files. The code of
 * this repository, and n8n's loader, which loads it, are loaded for each file.
 */
declare const requireOnce: NodeJS.Require | undefined;

/**
 * Modules of the engine, by the names under which the engine imports them. N8N_UNDER_TEST may name the folder of the
 * engine (test/versions).
 */
const ofEngine = [
	'n8n-core',
	// The tests of other n8n versions stop this manager (test/versions/letGo.ts).
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
		// The jest.config.js of test/versions maps these names to the other folder.
		if (otherFolder !== undefined && name !== path) jest.doMock(name, load);
	};
	for (const name of ofEngine) share(name, requireOnce.resolve(name, { paths: [engine] }));
	for (const name of ofTests) share(name, requireOnce.resolve(name));
}
