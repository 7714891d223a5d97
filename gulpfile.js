const { mkdirSync, readFileSync, writeFileSync } = require('node:fs');
const { dirname, join } = require('node:path');
const { dest, parallel, series, src } = require('gulp');
const { RefResolver } = require('json-schema-ref-resolver');
const { parse } = require('yaml');

/** Copies the files that the compiler ignores to dist: the icons, and the node's entry in n8n's nodes panel. */
function copyAssets() {
	return src('nodes/**/*.{svg,node.json}', { encoding: false }).pipe(dest('dist/nodes'));
}

const REPOSITORY = /https:\/\/github\.com\/[\w-]+\/n8n-nodes-job-orchestration/g;

/**
 * Sets the repository's address of package.json in all links to the repository: in dist, the sources, the examples, the
 * changelog and the snapshots of the tests.
 */
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

/** Takes the place of a value in a response. Contains the schema that the contract has for this value. */
class Answered {
	constructor(schema) {
		this.schema = schema;
	}
}

function readContract() {
	const resolver = new RefResolver();
	const contract = parse(readFileSync(join(__dirname, 'contract/openapi.yaml'), 'utf8'));
	resolver.addSchema(contract, 'contract');
	return resolver.getDerefSchema('contract');
}

/**
 * Writes the JSON schema of each operation's output to the file in which n8n looks for it (n8n-core,
 * output-schema-resolver). With the schema, users can map the fields of a node before it has run.
 *
 * To create a schema, the operation runs with a client whose responses contain the contract's schemas instead of
 * values. The schema therefore also describes how the node changes a response: the fields that it omits, and those that
 * it adds.
 */
async function writeOutputSchemas() {
	const { resources } = require('./dist/nodes/JobOrchestration/resources');
	const { readValues } = require('./dist/nodes/JobOrchestration/fields/values');
	const contract = readContract();
	const client = {
		redact: String,
		send: async (request) => {
			const schema = answerOf(contract, request);
			// The operation reads each element of a list, so the response needs a real array.
			const listed = schema.properties?.items?.items;
			return { body: listed ? { items: [answered(listed)], metadata: {} } : answered(schema) };
		},
	};

	for (const { value: resource, operations } of resources) {
		for (const operation of operations) {
			const fields = [...operation.fields, operation.options];
			const valueOf = ({ required, default: usual }) => (required ? 'given' : usual);
			const parameters = Object.fromEntries(fields.map((field) => [field.name, valueOf(field)]));
			const context = { getNodeParameter: (name) => parameters[name] };
			const {
				output: [output],
			} = await operation
				.prepare(readValues({ context, itemIndex: 0 }, parameters, fields))
				.send(client)
				.catch((cause) => {
					throw new Error(`No output schema for ${resource} ${operation.value}: ${cause.message}`);
				});
			const path = `dist/nodes/JobOrchestration/__schema__/v1.0.0/${resource}/${operation.value}.json`;
			mkdirSync(dirname(path), { recursive: true });
			writeFileSync(path, JSON.stringify({ ...schemaOf(output), version: 1 }));
		}
	}
}

/** The schema of a value that the interface doesn't describe: it allows any JSON. */
const ANYTHING = { type: ['null', 'object', 'array', 'string', 'number', 'boolean'] };

/** Returns the schema of a request's response with status 200, or `ANYTHING` if this response has no body. */
function answerOf({ paths }, { method, path }) {
	const matches = (template) => RegExp(`^${template.replace(/{\w+}/g, '[^/]+')}$`).test(path);
	const template = Object.keys(paths).find(matches);
	const call = paths[template]?.[method.toLowerCase()];
	if (call === undefined) throw new Error(`the contract has no call ${method} ${path}`);
	const { content } = call.responses['200'];
	return content === undefined ? ANYTHING : essenceOf(content['application/json'].schema);
}

/** Returns a schema with only the keywords that n8n uses. */
function essenceOf({ type, properties, items }) {
	const fields = Object.entries(properties ?? {}).map(([name, field]) => [name, essenceOf(field)]);
	return {
		type,
		...(properties && { properties: Object.fromEntries(fields) }),
		...(items && { items: essenceOf(items) }),
	};
}

/**
 * Returns the response of a call. An object has a separate `Answered` for each field, so that the node can omit fields.
 */
function answered(schema) {
	if (schema.properties === undefined) return new Answered(schema);
	return Object.fromEntries(
		Object.entries(schema.properties).map(([name, field]) => [name, new Answered(field)]),
	);
}

/** Returns the schema of an output, in which some parts come from a response and others from the node. */
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

/** Indents the compiled files with tabs. With the compiler's four spaces, the package would be a tenth larger. */
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
