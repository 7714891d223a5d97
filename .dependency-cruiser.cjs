/*
 * Who may import whom. docs/architecture.md shows it as a picture.
 *
 * `npm run lint:imports` checks it. An import of types only counts as one: to know a shape is to know its owner.
 */

const node = '^nodes/JobOrchestration/';
const entry = `${node}JobOrchestration\\.node\\.ts$`;

/** A part of the node may import itself, json.ts, texts.ts, decodedPath.ts and what is named here; of packages, n8n-workflow alone. */
function part(name, ...allowed) {
	const paths = [name, 'json.ts', 'texts.ts', 'decodedPath.ts', ...allowed].map((path) =>
		path.endsWith('.ts') ? path.replace('.', '\\.') : `${path}/`,
	);
	return {
		name: `${name}-knows-its-neighbours-only`,
		comment: `${name}/ may import ${allowed.join(', ') || 'nothing else of this project'}`,
		severity: 'error',
		from: { path: `${node}${name}/` },
		to: {
			path: '^(nodes|credentials|sandbox|host|test|bench)/',
			pathNot: `${node}(${paths.join('|')})`,
		},
	};
}

/** The rooms of service/: each knows those before it. */
const rooms = ['retry', 'errors', 'pace', 'session', 'calls'].map((room) => `service/${room}`);

/** @type {import('dependency-cruiser').IConfiguration} */
module.exports = {
	forbidden: [
		part('service'),
		...rooms.map((room, index) =>
			part(
				room,
				'service/timers.ts',
				'service/request.ts',
				...rooms.slice(0, index),
				...(room === 'service/calls' ? ['service/client.ts'] : []),
			),
		),
		part('parameters'),
		// Operations know the service by its calls, never by HTTP.
		part('waitUntilCalled', 'parameters'),
		part(
			'resources',
			'parameters',
			'waitUntilCalled',
			'service/calls',
			'service/client.ts',
			'service/request.ts',
		),
		part('execution', 'parameters', 'resources', 'waitUntilCalled', 'service'),
		part('listSearch', 'service'),
		{
			name: 'the-node-is-put-together-in-one-place',
			comment:
				'JobOrchestration.node.ts imports the form, the execution, its waits and the drop-downs',
			severity: 'error',
			from: { path: entry },
			to: {
				path: '^(nodes|credentials)/',
				pathNot: `${node}(execution/execute|waitUntilCalled/\\w+|resources/index|listSearch/\\w+)\\.ts$`,
			},
		},
		{
			name: 'the-credential-knows-the-log-in-only',
			severity: 'error',
			from: { path: '^credentials/' },
			to: { path: '^nodes/', pathNot: `${node}service/session/(credential|otherNodes)\\.ts$` },
		},
		{
			name: 'what-is-published-stands-alone',
			comment:
				'The package has no dependencies: of packages, n8n-workflow; of Node.js, node:crypto',
			severity: 'error',
			from: { path: '^(nodes|credentials)/' },
			to: {
				pathNot: ['^(nodes|credentials)/', '(^|/)node_modules/n8n-workflow/', '^(node:)?crypto$'],
			},
		},
		{
			name: 'the-sandbox-does-not-know-the-node',
			comment: 'A test of one by the other proves nothing if they share code',
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
			// The sandbox serves lit-html to its page.
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
