import type { INode } from 'n8n-workflow';

import { nodeErrorOf } from '../../../nodes/JobOrchestration/execution/errors';
import { ServiceError } from '../../../nodes/JobOrchestration/service/messages/serviceError';

/** An error as a person sees it, and what it stands for. */
export interface Shown {
	title: string;
	description: string;
	/** The status of the answer, where one came. */
	status?: number | undefined;
	/** Whether it was the log-in that failed. */
	isOfLogIn?: boolean;
	/** Undefined for what isn't the error of a create. */
	jobMayExist?: boolean;
}

/** What an error can be about. */
export const things = {
	url: 'https://url.example',
	/** What a field holds that must be filled in. */
	given: 'something',
	location: 'https://elsewhere.example',
	proxy: 'proxy.example:3128',
};

/** A service error as a person sees it. */
export function shown({ message, description, failure }: ServiceError): Shown {
	const cause = failure.kind === 'login' ? failure.cause : failure;
	return {
		title: message,
		description: description ?? '',
		isOfLogIn: failure.kind === 'login',
		status: cause.kind === 'status' || cause.kind === 'redirect' ? cause.status : undefined,
	};
}

export const node: INode = {
	...{ id: '', name: '', type: '', typeVersion: 1, parameters: {} },
	position: [0, 0],
};

/** What an action throws, as n8n shows it; undefined where it throws nothing. */
export function shownWhen(action: () => unknown): Shown | undefined {
	try {
		action();
	} catch (error) {
		const { message, description } = nodeErrorOf(node, error);
		return { title: message, description: description ?? '' };
	}
	return undefined;
}
