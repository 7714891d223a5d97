import type { Parameter } from '../messages';
import type { Service } from '../service/service';
import type { Callback } from '../service/callbacks';
import type { StoredJob } from '../service/jobs';

/** The longest value that the page shows, in characters. */
const longestShown = 2000;

/** What the page shows of a job when it is clicked; undefined where there is no such job. */
export function jobDetails({ jobs, callbacks }: Service, uid: string) {
	const job = jobs.get(uid);
	if (job === undefined) return undefined;
	const { inputs = [], outputs = [] } = job.asked;
	const callback = callbacks.of(job);
	return {
		displayName: job.displayName,
		/** Label to text. */
		fields: fieldsOf(job),
		inputs: inputs.map(shown),
		outputs: outputs.map(shown),
		/** What the job's template does at its end, in a sentence; null where it does nothing. */
		callback: callback ? inWords(callback, job) : null,
	};
}

/** By the labels of the node's form. */
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

function shown({ id = '', default: value = '' }: Parameter) {
	return { id: cut(id), value: cut(value) };
}

function cut(text: string): string {
	if (text.length <= longestShown) return text;
	return `${text.slice(0, longestShown)}… (${text.length.toLocaleString('en')} characters)`;
}

function inWords({ url, tries, status, settled }: Callback, { state }: StoredJob): string {
	if (tries === 0) {
		return state === 'stopped' || state === 'terminated'
			? `Makes no call, since it was ${state}`
			: `Calls ${url.host} when it has succeeded`;
	}
	const answer = status === undefined ? 'no answer came' : `the answer was ${status}`;
	const next = settled ? '' : ', and it will try again';
	return `Called ${url.host} ${tries === 1 ? 'once' : `${tries} times`}: ${answer}${next}`;
}
