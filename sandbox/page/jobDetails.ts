import type { Parameter } from '../messages';
import type { Service } from '../service/service';
import type { Callback } from '../service/callbacks';
import type { StoredJob } from '../service/jobs';

/** The maximum number of characters of a value that the page shows. */
const longestShown = 2000;

/** Returns the details of a job that the page shows after a click on the job; undefined if there is no such job. */
export function jobDetails({ jobs, callbacks }: Service, uid: string) {
	const job = jobs.get(uid);
	if (job === undefined) return undefined;
	const { inputs = [], outputs = [] } = job.asked;
	const callback = callbacks.of(job);
	return {
		displayName: job.displayName,
		/** The text for each label. */
		fields: fieldsOf(job),
		/** JSON texts, because only JSON shows whether a value is a text. */
		inputs: asJson(inputs),
		outputs: asJson(outputs),
		/** A sentence about the job's call when it has succeeded; null unless its template makes such a call. */
		callback: callback ? inWords(callback) : null,
	};
}

/** Returns the fields of a job, with the labels that they have in the node's form. Omits fields without a value. */
function fieldsOf({ uid, name, namespace, cluster, asked }: StoredJob): Record<string, string> {
	const { maxretry, retryInterval } = asked.retryOption ?? {};
	const fields: Record<string, string | number | undefined> = {
		'Job ID': uid,
		Name: name,
		Namespace: namespace,
		'Workflow UID': asked.workflow.uid,
		'Work Cluster': `${cluster.metadata.uid} (${cluster.name})`,
		Group: asked.group || undefined,
		Priority: asked.priority,
		'Max Job Retries': maxretry,
		'Job Retry Interval': retryInterval,
		Type: asked.type,
		Workspace: asked.workspace,
	};
	return Object.fromEntries(
		Object.entries(fields).flatMap(([label, value]) =>
			value === undefined ? [] : [[label, cut(String(value))]],
		),
	);
}

function asJson(parameters: Parameter[]): string {
	const short = (_key: string, value: unknown) => (typeof value === 'string' ? cut(value) : value);
	return JSON.stringify(parameters, short, 2);
}

function cut(text: string): string {
	if (text.length <= longestShown) return text;
	return `${text.slice(0, longestShown)}… (${text.length.toLocaleString('en')} characters)`;
}

function inWords({ url, tries, status }: Callback): string {
	if (tries === 0) return `Calls ${url.host} if it succeeds`;
	return `Called ${url.host}. Calls: ${tries}. The last answer: ${status ?? 'none'}`;
}
