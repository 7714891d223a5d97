import type { JsonObject } from '../../json';
import { isJsonObject } from '../../json';

/** Where a parameter takes its value from, as the interface's parameter record has it. */
export interface Anchor {
	source: string;
	sourceAnchor: string;
}

export interface ParameterRecord {
	id: string;
	anchors: Anchor[];
	displayName: string;
	controls: string;
	default: string;
	type: string;
}

/** What a new job is made from. What is undefined is not sent. */
export interface NewJob {
	/** Where the job is placed: part of the path, and sent twice in the body. */
	namespace: string;
	workflowUid: string;
	/** A cluster's `metadata.uid`. */
	workCluster: string;
	displayName: string;
	group: string;
	inputs: Array<ParameterRecord | JsonObject>;
	outputs: Array<ParameterRecord | JsonObject>;
	type: string;
	metadata: JsonObject;
	priority?: number | undefined;
	maxRetry?: number | undefined;
	/** Milliseconds. */
	retryInterval?: number | undefined;
	workspace?: string | undefined;
}

export interface Job extends JsonObject {
	metadata: JsonObject & { uid: string | number };
}

export interface ClusterPage extends JsonObject {
	items: JsonObject[] | null;
}

/** The `metadata.uid` of a job or a cluster; undefined unless it is a text with something in it, or a whole number. */
export function uidOf({ metadata }: JsonObject): string | undefined {
	const uid = isJsonObject(metadata) ? metadata.uid : undefined;
	// A larger number has lost digits.
	if (typeof uid === 'number') return Number.isSafeInteger(uid) && uid >= 0 ? `${uid}` : undefined;
	return typeof uid === 'string' && uid.trim() !== '' ? uid : undefined;
}

/** Whether an answer is a job: all that is relied on is its id. */
export function isJob(value: unknown): value is Job {
	return isJsonObject(value) && uidOf(value) !== undefined;
}

/**
 * Whether an answer is a page of clusters: an object whose `items` is null or a list of objects. Where the next page
 * begins, it must say in a way that can be sent back: the first page must not be taken for the whole list.
 */
export function isClusterPage(value: unknown): value is ClusterPage {
	if (!isJsonObject(value)) return false;
	const { items } = value;
	const areItems = items === null || (Array.isArray(items) && items.every(isJsonObject));
	const next = continueOf(value);
	return areItems && (!next || typeof next === 'string' || typeof next === 'number');
}

function continueOf({ metadata }: JsonObject): unknown {
	return isJsonObject(metadata) ? metadata.continue : undefined;
}

/**
 * The token of the page after this one; undefined on the last page.
 *
 * The interface does not say where the service puts it. `ListOption.continue` is the list convention of
 * Kubernetes, which answers with `metadata.continue`, empty or absent at the end. A service that counts may send 0.
 */
export function nextPageTokenOf(page: ClusterPage): string | undefined {
	const token = continueOf(page);
	if (!token) return undefined;
	return typeof token === 'string' || typeof token === 'number' ? String(token) : undefined;
}
