/*
 * The rules for imports, which `npm run lint:imports` checks. docs/architecture.md has a diagram of the rules for the
 * node. The rules also apply to imports of types, since they make a file depend on another file, too.
 */

const node = '^nodes/JobOrchestration/';
const entry = `${node}JobOrchestration\\.node\\.ts$`;

/**
 * Returns the rule for a folder or a file of the node. It may only import itself, json.ts, texts.ts and
 * the given folders and files. The rule doesn't apply to packages.
 */
function part(name, ...allowed) {
	const paths = [name, 'json.ts', 'texts.ts', ...allowed].map((path) =>
		path.endsWith('.ts') ? path.replace('.', '\\.') : `${path}/`,
	);
	return {
		name: `${name}-knows-its-neighbours-only`,
		comment: `${name}/ may only import ${[name, 'json.ts', 'texts.ts', ...allowed].join(', ')}`,
		severity: 'error',
		from: { path: `${node}${paths[0]}` },
		to: {
			path: '^(nodes|credentials|sandbox|host|test|bench)/',
			pathNot: `${node}(${paths.join('|')})`,
		},
	};
}

/** The files of service/ that know no other room. */
const base = ['service/timers.ts', 'service/request.ts', 'service/policy.ts'];

/** The folders of service/. Each may import the files above, and the folders before it in this list. */
const rooms = ['errors', 'pace', 'calls', 'session'].map((room) => `service/${room}`);

/** @type {import('dependency-cruiser').IConfiguration} */
module.exports = {
	forbidden: [
		part('service'),
		...base.map((file) => part(file, ...base)),
		...rooms.map((room, index) => part(room, ...base, ...rooms.slice(0, index))),
		part('fields'),
		part('waitUntilCalled.ts', 'fields'),
		// Operations make calls. They don't send HTTP requests.
		part(
			'resources',
			'fields',
			'waitUntilCalled.ts',
			'service/errors/problem.ts',
			'service/calls',
			'service/client.ts',
			'service/request.ts',
		),
		part('execution', 'fields', 'resources', 'waitUntilCalled.ts', 'service'),
		part('listSearch', 'service'),
		{
			name: 'the-node-is-put-together-in-one-place',
			comment:
				'JobOrchestration.node.ts may only import resources/index.ts, execution/execute.ts, waitUntilCalled.ts and listSearch/',
			severity: 'error',
			from: { path: entry },
			to: {
				path: '^(nodes|credentials)/',
				pathNot: `${node}(execution/execute|waitUntilCalled|resources/index|listSearch/\\w+)\\.ts$`,
			},
		},
		{
			name: 'the-credential-knows-the-form-and-the-log-in-only',
			severity: 'error',
			from: { path: '^credentials/' },
			to: {
				path: '^nodes/',
				pathNot: `${node}(fields/form|service/session/(credential|otherNodes))\\.ts$`,
			},
		},
		{
			name: 'what-is-published-stands-alone',
			comment:
				'The package has no dependencies, so it may only import n8n-workflow and node:crypto',
			severity: 'error',
			from: { path: '^(nodes|credentials)/' },
			to: {
				pathNot: ['^(nodes|credentials)/', '(^|/)node_modules/n8n-workflow/', '^(node:)?crypto$'],
			},
		},
		{
			name: 'the-sandbox-does-not-know-the-node',
			comment:
				'If they shared code, a test of the node with the sandbox would miss errors in this code',
			severity: 'error',
			from: { path: '^sandbox/' },
			to: { path: '^(nodes|credentials|host|test|bench)/' },
		},
		{
			name: 'the-host-does-not-know-the-node',
			comment: 'It installs the packed node, as a user would',
			severity: 'error',
			from: { path: '^host/' },
			to: { path: '^(nodes|credentials|test|bench)/' },
		},
		{ name: 'no-cycles', severity: 'error', from: {}, to: { circular: true } },
		{
			name: 'no-orphans',
			severity: 'error',
			from: {
				orphan: true,
				pathNot: [
					'\\.test\\.ts$',
					'/jest\\.config\\.js$',
					'^host/leash\\.cjs$',
					'waitTracker\\.cjs$',
					'noRetry\\.ts$',
					'loadOnce\\.ts$',
				],
			},
			to: {},
		},
		{
			name: 'nothing-unresolved',
			severity: 'error',
			from: {},
			// page.js in the sandbox imports lit-html by the URL at which the sandbox serves it.
			to: { couldNotResolve: true, pathNot: '^(node:|\\./lit-html\\.js$)' },
		},
	],
	options: {
		doNotFollow: { path: 'node_modules' },
		exclude: { path: '^(dist|host/(node_modules|\\.data|versions))/' },
		tsPreCompilationDeps: true,
		tsConfig: { fileName: 'tsconfig.json' },
		enhancedResolveOptions: {
			exportsFields: ['exports'],
			conditionNames: ['import', 'require', 'node', 'default', 'types'],
		},
	},
};
