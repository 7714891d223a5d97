import { contractOperations, partAt } from '../../sandbox/contract/contract';
import { schemaAt, schemas, type Schema } from './schemas';

/*
 * The contract, field by field: what must be there, of what type, and whether there may be more. A request is
 * closed (a field that isn't listed is refused), an answer is open. Fields of other schemas stand there.
 */

/** What is written of a schema in words of its own, or says nothing of its values. */
const KNOWN = [
	...['$ref', 'type', 'enum', 'format', 'minLength', 'minimum', 'additionalProperties'],
	...['properties', 'required', 'items', 'description', 'examples', 'x-not-in-interface'],
];

/** A line for each field of a schema: its path, its type and bounds, `!` where it is required. */
function linesOf(path: string, schema: Schema, isRequired = false): string[] {
	const words = [
		schema.$ref?.split('/').at(-1) ?? [schema.type].flat().join('|'),
		schema.enum?.join('|'),
		schema.format,
		schema.minLength === undefined ? undefined : `length>=${schema.minLength}`,
		schema.minimum === undefined ? undefined : `>=${schema.minimum}`,
		schema.additionalProperties === false ? 'closed' : undefined,
		...Object.keys(schema).filter((keyword) => !KNOWN.includes(keyword)),
	];
	const inner = [
		...Object.entries(schema.properties ?? {}).flatMap(([name, field]) =>
			linesOf(`${path}.${name}`, field, schema.required?.includes(name) ?? false),
		),
		...(schema.items === undefined ? [] : linesOf(`${path}[]`, schema.items)),
		...(typeof schema.additionalProperties === 'object'
			? linesOf(`${path}.*`, schema.additionalProperties)
			: []),
	];
	return [
		`${path}${isRequired ? '!' : ''} ${words.filter((word) => word !== undefined).join(' ')}`,
		...inner,
	];
}

const linesOfAll = Object.entries(schemas).flatMap(([name, schema]) => linesOf(name, schema));

it('Every field of the contract is what is written here', () => {
	expect(linesOfAll.join('\n')).toBe(
		`
LoginRequest object closed
LoginRequest.userName! string
LoginRequest.password! string|number
LoginRequest.type! string basic
Token object
Token.access_token! string length>=1
Token.token_type! string
Token.refresh_token! string
Token.expires_in! number|string
CreateJobRequest object closed
CreateJobRequest.namespace! NamespaceId
CreateJobRequest.job! NewJob
NamespaceId string|number length>=1
NewJob object closed
NewJob.displayName! string length>=1
NewJob.group! string
NewJob.workCluster! string length>=1
NewJob.workflow! object closed
NewJob.workflow.uid! string length>=1
NewJob.priority number
NewJob.metadata object
NewJob.type string length>=1
NewJob.inputs Parameters
NewJob.outputs Parameters
NewJob.retryOption object closed
NewJob.retryOption.maxretry number >=0
NewJob.retryOption.retryInterval number >=0
NewJob.namespace NamespaceId
NewJob.workspace string
Parameters array
Parameters[] Parameter
Parameter object closed
Parameter.id string
Parameter.anchors array
Parameter.anchors[] object closed
Parameter.anchors[].source string
Parameter.anchors[].sourceAnchor string
Parameter.displayName string
Parameter.controls string
Parameter.default string
Parameter.type string
Job object
Job.metadata! object
Job.metadata.namespace! string
Job.metadata.uid! string length>=1
Job.name! string
Job.displayName! string
Job.group string
Job.type string
Job.workflow! object
Job.workflow.uid! string
Job.priority! number
Job.status! object
Job.status.startedAt string date-time
Job.status.finishedAt string|null date-time
Job.inputs! ParametersSent
Job.outputs! ParametersSent
Job.retryOption object
Job.retryOption.maxRetry number
Job.retryOption.retryInterval number
Job.engineWorkflow EngineWorkflow
Job.workspace string
Job.workCluster string
ParametersSent array
ParametersSent[] object
ParametersSent[].id string
ParametersSent[].anchors array
ParametersSent[].anchors[] object
ParametersSent[].displayName string
ParametersSent[].controls string
ParametersSent[].default string
ParametersSent[].type string
EngineWorkflow object
EngineWorkflow.name string
EngineWorkflow.spec object
EngineWorkflow.spec.templates array
EngineWorkflow.spec.templates[] EngineTemplate
EngineWorkflow.spec.entrypoint string
EngineWorkflow.spec.arguments object
EngineWorkflow.spec.arguments.parameters array
EngineWorkflow.spec.arguments.parameters[] NameAndValue
EngineWorkflow.spec.serviceAccountName string
EngineWorkflow.spec.volumes array
EngineWorkflow.spec.volumes[] object
EngineWorkflow.spec.volumes[].name string
EngineWorkflow.spec.volumes[].persistentVolumeClaim object
EngineWorkflow.spec.volumes[].persistentVolumeClaim.claimName string
EngineWorkflow.spec.nodeSelector object
EngineWorkflow.spec.nodeSelector.* string
EngineWorkflow.spec.priority number
EngineTemplate object
EngineTemplate.name string
EngineTemplate.arguments object
EngineTemplate.inputs object
EngineTemplate.inputs.parameters array
EngineTemplate.inputs.parameters[] NameAndValue
EngineTemplate.outputs object
EngineTemplate.outputs.parameters array
EngineTemplate.outputs.parameters[] object
EngineTemplate.outputs.parameters[].name string
EngineTemplate.outputs.parameters[].valueFrom object
EngineTemplate.outputs.parameters[].valueFrom.path string
EngineTemplate.metadata object
EngineTemplate.metadata.annotations object
EngineTemplate.container object
EngineTemplate.container.name string
EngineTemplate.container.image string
EngineTemplate.container.command array
EngineTemplate.container.command[] string
EngineTemplate.container.resources object
EngineTemplate.container.volumeMounts array
EngineTemplate.container.volumeMounts[] object
EngineTemplate.container.volumeMounts[].name string
EngineTemplate.container.volumeMounts[].mountPath string
EngineTemplate.container.imagePullPolicy string
NameAndValue object
NameAndValue.name string
NameAndValue.value string
Cluster object
Cluster.metadata! object
Cluster.metadata.uid! string length>=1
Cluster.name! string
Cluster.type! string
Cluster.self! boolean
Cluster.selector object
Cluster.selector.* string
Cluster.status! object
Cluster.status.createdAt! string date-time
Cluster.status.updatedAt! string date-time
Cluster.status.phase! string
ClusterList object
ClusterList.items! array
ClusterList.items[] Cluster
ClusterList.metadata! object
ClusterList.metadata.continue string
Error object
Error.code! string
Error.message! string
`.trim(),
	);
});

it('The calls are those of the interface: each takes and answers what is written here', () => {
	const lines = contractOperations.flatMap((operation) => {
		const { id, method, path, needsToken, parameters, body, answers } = operation;
		return [
			`${id} ${method} ${path}${needsToken ? ' with a token' : ''}`,
			...parameters.flatMap(({ in: place, name, required, schema }) =>
				linesOf(`${id} ${place} ${name}`, schemaAt(schema.$ref), required),
			),
			`${id} statuses ${[...answers.keys()].join(' ')}`,
			`${id} body: ${body === undefined ? 'none' : 'one'}, answer: ${answers.get(200) === undefined ? 'none' : 'one'}`,
		];
	});
	expect(lines).toEqual([
		'login POST /oauth/login',
		'login statuses 200 400 401',
		'login body: one, answer: one',
		'createJob POST /api/v1/namespaces/{namespace}/jobs with a token',
		'createJob path namespace! string length>=1',
		'createJob statuses 200 400 401 429 503',
		'createJob body: one, answer: one',
		'changeJobState PUT /api/v1/namespaces/{namespace}/jobs/{jobid}/{status} with a token',
		'changeJobState path namespace! string length>=1',
		'changeJobState path jobid! string length>=1',
		'changeJobState path status! string suspend|resume|stop|terminate',
		'changeJobState statuses 200 400 401 404 409 429 503',
		'changeJobState body: none, answer: none',
		'listClusters GET /api/v1/clusters with a token',
		'listClusters query ListOption.limit integer >=1',
		'listClusters query ListOption.continue string length>=1',
		'listClusters statuses 200 400 401 429 503',
		'listClusters body: none, answer: one',
	]);
});

/** Where a part of the contract is marked as the sandbox's choice. */
function marked(where: string, part = partAt(where)): string[] {
	if (typeof part !== 'object' || part === null) return [];
	return Object.entries(part).flatMap(([name, value]: [string, unknown]) =>
		name === 'x-not-in-interface' ? [where] : marked(`${where}/${name}`, value),
	);
}

it('What the interface does not show is marked, and nothing else', () => {
	expect(marked('#/components').sort()).toEqual([
		'#/components/responses/BadRequest',
		'#/components/responses/Busy',
		'#/components/responses/Busy/headers/Retry-After',
		'#/components/responses/NoSuchJob',
		'#/components/responses/NoValidToken',
		'#/components/responses/NoValidToken/headers/WWW-Authenticate',
		'#/components/responses/TooManyRequests',
		'#/components/responses/TooManyRequests/headers/Retry-After',
		'#/components/responses/WrongPassword',
		'#/components/responses/WrongState',
		'#/components/schemas/ClusterList/properties/metadata/properties/continue',
		'#/components/schemas/Error',
		'#/components/securitySchemes/bearer',
	]);
});
