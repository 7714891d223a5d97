import { JobOrchestrationApi } from '../../../credentials/JobOrchestrationApi.credentials';
import { FieldValue } from '../../../nodes/JobOrchestration/parameters/fieldValue';
import { resources } from '../../../nodes/JobOrchestration/resources';
import type { GetField } from '../../../nodes/JobOrchestration/parameters/itemParameters';
import { ItemParameters } from '../../../nodes/JobOrchestration/parameters/itemParameters';
import type { Operation } from '../../../nodes/JobOrchestration/resources/operation';
import {
	readConcurrency,
	readIfStopped,
	readCallOptions,
} from '../../../nodes/JobOrchestration/resources/options';
import { readBaseUrl } from '../../../nodes/JobOrchestration/service/account/baseUrl';
import type { FailureOf } from '../../../nodes/JobOrchestration/service/request/failure';
import { shownWhen } from './shown';
import type { Shown } from './shown';

/*
 * Every error that is found before anything is sent: in the form of the node and in that of the credential.
 */

type BaseUrlProblem = FailureOf<'baseUrl'>['problem'];

/** A Base URL with each problem that there is; one that is missing here does not compile. */
const badBaseUrls: Record<BaseUrlProblem, string> = {
	empty: '',
	notAnAddress: 'jobs.example.com',
	otherScheme: 'ftp://jobs.example.com',
	holdsUser: 'http://me@jobs.example.com',
	holdsQuery: 'http://jobs.example.com?',
};

export const baseUrlErrors = Object.values(badBaseUrls).flatMap(
	(text) => shownWhen(() => readBaseUrl(text)) ?? [],
);

/** Values that some field or other can't take. */
const oddValues: unknown[] = [
	...['', '..', '\ud83d', 'high', 'perhaps', '[{', '{}', '[3]', '[]'],
	...[-7, 1.5, NaN, [], {}, null, new Date(NaN)],
];

/** What is given for fields: by their name, or by the names of a collection and of its member. */
type Values = Record<string, unknown>;

/** What a good item gives: something for what must be there. */
const goodValues: Values = Object.fromEntries(
	resources
		.flatMap(({ operations }) => operations.flatMap(({ fields }) => fields))
		.flatMap(({ name, required }) => (required === true ? [[name, 'something']] : [])),
);

/** Each field of an operation with each odd value, in whatever shape it takes it. */
function oddItems({ fields }: Operation): Values[] {
	return fields.flatMap(({ name, type, options = [], displayOptions }) => {
		// A field that is shown for one choice alone is read where that is made.
		const choices = Object.entries(displayOptions?.show ?? {}).map(([key, of = []]) => [
			key,
			of[0],
		]);
		return oddValues.flatMap((value) => {
			const members = options.flatMap((option) =>
				type === 'collection'
					? [{ [`${name}.${option.name}`]: value }]
					: 'values' in option
						? option.values.map((nested) => ({
								[name]: { [option.name]: [{ id: 'something', [nested.name]: value }] },
							}))
						: [],
			);
			return [{ [name]: value }, ...members].map((odd) => ({
				...goodValues,
				...(Object.fromEntries(choices) as Values),
				...odd,
			}));
		});
	});
}

/** Reads all that an item gives. */
function read(operation: Operation, values: Values): void {
	const getField: GetField = (name, member) => {
		const key = member === undefined ? name : `${name}.${member}`;
		return new FieldValue('Job Retry Interval', values[key]);
	};
	operation.prepare(getField);
	if (operation.makesJobs === true) readIfStopped(getField);
	readConcurrency(getField);
	readCallOptions(getField);
}

/** Reads a field whose expression fails. */
function readUnreadable({ fields }: Operation): void {
	const failing = {
		getNode: () => ({ parameters: {} }),
		getNodeParameter: () => {
			throw new Error('invalid syntax');
		},
	};
	new ItemParameters(failing as never, fields).forItem(0)(fields[0]?.name ?? '');
}

const allFieldErrors: Shown[] = resources.flatMap(({ operations }) =>
	operations
		.flatMap((operation) => [
			() => readUnreadable(operation),
			...oddItems(operation).map((values) => () => read(operation, values)),
		])
		.flatMap((attempt) => shownWhen(attempt) ?? []),
);

/** Each error once: most fields are read in one of a few ways. */
export const fieldErrors = [
	...new Map(allFieldErrors.map((error) => [JSON.stringify(error), error])).values(),
];

/** What the test of the credential says by itself. */
export const testErrors: Shown[] = (new JobOrchestrationApi().test.rules ?? []).map(
	({ properties: rule }) => ({
		title: String('message' in rule ? rule.message : ''),
		description: '',
		status: Number('value' in rule ? rule.value : NaN),
	}),
);
