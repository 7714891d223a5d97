const { mkdirSync, readFileSync, writeFileSync } = require('node:fs');
const { dirname, join } = require('node:path');
const { dest, parallel, series, src } = require('gulp');
const { RefResolver } = require('json-schema-ref-resolver');
const { parse } = require('yaml');

/** Brings into dist what the compiler leaves behind: the icons, and the node's entry in n8n's panel. */
function copyAssets() {
	return src('nodes/**/*.{svg,node.json}', { encoding: false }).pipe(dest('dist/nodes'));
}

const REPOSITORY = /https:\/\/github\.com\/[\w-]+\/n8n-nodes-job-orchestration/g;

/** package.json says where the repository is. What links to it follows: in dist, in the sources, in the examples. */
async function updateLinks() {
	const { homepage } = require('./package.json');
	const code = '{dist,credentials,nodes}/**/*.{js,ts,json}';
	const linking = [code, 'examples/*.json', 'CHANGELOG.md', 'test/node/__snapshots__/*'];
	for await (const { path, contents } of src(linking, { encoding: false })) {
		const text = contents.toString();
		const updated = text.replace(REPOSITORY, homepage);
		if (updated !== text) writeFileSync(path, updated);
	}
}

/** Something that the service answers: in place of the value, what the contract says of it. */
class Answered {
	constructor(schema) {
		this.schema = schema;
	}
}

/**
 * Writes what each operation gives as a JSON schema where n8n looks for it (n8n-core, output-schema-resolver), so
 * that the fields of a node can be used before it has run.
 *
 * Each operation is run with a service that answers with the contract's schemas in place of values. So what the node
 * makes of an answer is in the schema too: what it leaves out, and what it puts around it.
 */
async function writeOutputSchemas() {
	const { resources } = require('./dist/nodes/JobOrchestration/resources');
	const { FieldValue } = require('./dist/nodes/JobOrchestration/parameters/fieldValue');
	const resolver = new RefResolver();
	resolver.addSchema(
		parse(readFileSync(join(__dirname, 'contract/openapi.yaml'), 'utf8')),
		'contract',
	);
	const contract = resolver.getDerefSchema('contract');
	// Of a list, the operation looks at each element.
	const listed = answered(answerOf(contract, 'listClusters').properties.items.items);
	const client = {
		redact: String,
		send: async ({ operationId }) =>
			operationId === 'listClusters'
				? { items: [listed], metadata: {} }
				: answered(answerOf(contract, operationId)),
	};

	for (const { value: resource, operations } of resources) {
		for (const { value: operation, fields, prepare } of operations) {
			const give = (name, member) => {
				const { required, default: value } = fields.find((field) => field.name === name) ?? {};
				if (member !== undefined) return new FieldValue(name, undefined);
				return new FieldValue(name, required ? 'given' : value);
			};
			const {
				output: [output],
			} = await prepare(give)
				.send(client)
				.catch((cause) => {
					throw new Error(`No output schema for ${resource} ${operation}: ${cause.message}`);
				});
			const path = `dist/nodes/JobOrchestration/__schema__/v1.0.0/${resource}/${operation}.json`;
			mkdirSync(dirname(path), { recursive: true });
			writeFileSync(path, JSON.stringify({ ...schemaOf(output), version: 1 }));
		}
	}
}

/** For what the interface doesn't show: any JSON. */
const ANYTHING = { type: ['null', 'object', 'array', 'string', 'number', 'boolean'] };

/** The schema of a call's answer; one for anything where the interface shows none. */
function answerOf({ paths }, operationId) {
	const calls = Object.values(paths).flatMap((path) => Object.values(path));
	const call = calls.find((candidate) => candidate.operationId === operationId);
	if (call === undefined) throw new Error(`the contract has no operation '${operationId}'`);
	const { content } = call.responses['200'];
	return content === undefined ? ANYTHING : essenceOf(content['application/json'].schema);
}

/** A schema without what n8n has no use for. */
function essenceOf({ type, properties, items }) {
	const fields = Object.entries(properties ?? {}).map(([name, field]) => [name, essenceOf(field)]);
	return {
		type,
		...(properties && { properties: Object.fromEntries(fields) }),
		...(items && { items: essenceOf(items) }),
	};
}

/** What a call gives: an object of which the node may leave out fields, or a value of any other kind. */
function answered(schema) {
	if (schema.properties === undefined) return new Answered(schema);
	return Object.fromEntries(
		Object.entries(schema.properties).map(([name, field]) => [name, new Answered(field)]),
	);
}

/** The schema of a value in which some parts are answered, and others are the node's own. */
function schemaOf(value) {
	if (value instanceof Answered) return value.schema;
	if (value === null) return ANYTHING;
	if (typeof value !== 'object') return { type: typeof value };
	return {
		type: 'object',
		properties: Object.fromEntries(
			Object.entries(value).map(([name, part]) => [name, schemaOf(part)]),
		),
	};
}

/** Indents the compiler's output with tabs, like the sources: with four spaces, the package would be a tenth larger. */
async function indentWithTabs() {
	for await (const { path, contents } of src('dist/**/*.js', { encoding: false })) {
		const code = contents.toString();
		writeFileSync(
			path,
			code.replace(/^(?: {4})+/gm, (spaces) => '\t'.repeat(spaces.length / 4)),
		);
	}
}

exports.default = series(parallel(copyAssets, writeOutputSchemas), updateLinks, indentWithTabs);
