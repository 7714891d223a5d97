import type {
	ICredentialType,
	INodeProperties,
	INodePropertyCollection,
	INodePropertyOptions,
	INodeType,
} from 'n8n-workflow';

/**
 * The node's form as a person would read it: the node, then each operation with its fields in their order.
 * Operations with the same fields stand together.
 */
export function describeNode({ constructor, description }: INodeType): string {
	const { properties, codex, builderHint, credentials = [], inputs, outputs } = description;
	const head = [
		`Node: ${description.displayName} (${description.name}), version ${String(description.version)}`,
		...notes({
			class: constructor.name,
			description: description.description,
			subtitle: description.subtitle,
			'name on the canvas': String(description.defaults.name),
			group: description.group.join(', '),
			icon: iconOf(description),
			inputs: String(inputs),
			outputs: String(outputs),
			'found by': codex?.alias?.join(', '),
			categories: codex?.categories?.join(', '),
			documentation: linksOf(codex?.resources?.primaryDocumentation),
			'documentation of the credential': linksOf(codex?.resources?.credentialDocumentation),
			credential: credentials
				.map(({ name, required }) => `${name}${required === true ? ', required' : ''}`)
				.join('; '),
			tool: String(description.usableAsTool),
			'AI builder': builderHint?.searchHint,
		}),
	];
	const [resource, ...others] = properties;
	if (resource === undefined) throw new Error('The node has no field');
	const forms = new Map<string, string[]>();
	const choices = others.filter(({ name }) => name === 'operation');
	for (const choice of choices) {
		for (const operation of optionsOf(choice)) {
			const title = `${String(choice.displayOptions?.show?.resource?.[0])}: ${operation.name}`;
			const form = others
				.filter((field) => field.name !== 'operation' && isShownFor(field, choice, operation))
				.map((field) => describeField(field).join('\n'))
				.join('\n');
			forms.set(form, [...(forms.get(form) ?? []), title]);
		}
	}
	return [
		head.join('\n'),
		[resource, ...choices].map((field) => describeField(field).join('\n')).join('\n'),
		...[...forms].map(([form, titles]) => `${heading(titles.join(', '))}\n${form}`),
	]
		.join('\n\n')
		.concat('\n');
}

/** The credential's form, in the same way. */
export function describeCredential(type: ICredentialType): string {
	const { baseURL, url, qs } = type.test?.request ?? {};
	return [
		[
			`Credential: ${type.displayName} (${type.name})`,
			...notes({
				class: type.constructor.name,
				icon: iconOf(type),
				documentation: type.documentationUrl,
				test: `${baseURL ?? ''} ${url ?? ''} ${JSON.stringify(qs)}`,
			}),
			...(type.test?.rules ?? []).map(
				({ type: kind, properties }) => `    if ${kind}: ${JSON.stringify(properties)}`,
			),
		].join('\n'),
		...type.properties.map((field) => describeField(field).join('\n')),
	]
		.join('\n\n')
		.concat('\n');
}

/** The files of an icon, for light and for dark. */
function iconOf({ iconUrl }: Pick<ICredentialType, 'iconUrl'>): string {
	const urls = typeof iconUrl === 'object' ? [iconUrl.light, iconUrl.dark] : [iconUrl];
	return urls.map((url) => url?.replace(/^.*\//, '')).join(', ');
}

const linksOf = (links: Array<{ url: string }> = []) => links.map(({ url }) => url).join(', ');

const heading = (text: string) => `${text}\n${'='.repeat(text.length)}`;

function optionsOf({ options = [] }: INodeProperties): INodePropertyOptions[] {
	return options.filter((option): option is INodePropertyOptions => 'value' in option);
}

function isShownFor(
	{ displayOptions }: INodeProperties,
	choice: INodeProperties,
	operation: INodePropertyOptions,
): boolean {
	const { resource, operation: operations } = displayOptions?.show ?? {};
	return (
		JSON.stringify(resource) === JSON.stringify(choice.displayOptions?.show?.resource) &&
		operations?.includes(operation.value) === true
	);
}

/** A field in a line, what is to be said of it in one each, and what is in it, further in. */
function describeField(field: INodeProperties): string[] {
	const { displayName, name, type, required, noDataExpression, default: value } = field;
	const traits = [
		type,
		...(required === true ? ['required'] : []),
		`default ${JSON.stringify(value)}`,
		...(noDataExpression === true ? ['no expression'] : []),
	];
	return [
		`${displayName} (${name}): ${traits.join(', ')}`,
		...notes({
			shown: conditions(field),
			settings: settings(field.typeOptions),
			placeholder: field.placeholder,
			hint: field.hint,
			description: field.description,
		}),
		...(field.modes ?? []).flatMap(({ displayName: mode, name: modeName, type: kind, ...rest }) => [
			`    by ${mode} (${modeName}): ${kind}`,
			...indented(
				notes({
					settings: settings(rest.typeOptions),
					placeholder: rest.placeholder,
					hint: rest.hint,
				}),
			),
		]),
		...(field.options ?? []).flatMap((option) => indented(describeOption(option))),
	];
}

function describeOption(
	option: INodePropertyOptions | INodeProperties | INodePropertyCollection,
): string[] {
	if ('values' in option) {
		const { displayName, name, values } = option;
		return [
			`${displayName} (${name}), each with`,
			...values.flatMap((field) => indented(describeField(field))),
		];
	}
	if ('type' in option) return describeField(option);
	return [
		`- ${option.name} (${String(option.value)})`,
		...notes({ action: option.action, description: option.description }),
	];
}

/** When a field is shown, but for the operation that it belongs to. */
function conditions({ displayOptions: { show = {}, hide = {} } = {} }: INodeProperties): string {
	const shown = Object.entries(show).filter(
		([name]) => name !== 'resource' && name !== 'operation',
	);
	const list = (entries: Array<[string, unknown]>, verb: string) =>
		entries.map(([name, values]) => `${verb} ${name} is ${JSON.stringify(values)}`);
	return [...list(shown, 'if'), ...list(Object.entries(hide), 'unless')].join(', ');
}

function settings(typeOptions: object | undefined): string {
	return Object.entries(typeOptions ?? {})
		.map(([name, value]) => `${name} ${JSON.stringify(value)}`)
		.join(', ');
}

/** A line for each note that says something. */
function notes(all: Record<string, string | undefined>): string[] {
	return Object.entries(all).flatMap(([name, text]) =>
		text === undefined || text === '' ? [] : [`    ${name}: ${text}`],
	);
}

const indented = (lines: string[]) => lines.map((line) => `    ${line}`);
