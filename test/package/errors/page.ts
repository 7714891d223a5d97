import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { range } from './ofService';
import type { Shown } from './shown';

/*
 * docs/errors.md, read. An ellipsis on the page stands for what differs.
 */

/** A row of the page. */
export interface Row {
	title: string;
	statuses: number[];
	advice: string;
	/** What it says first where a job may exist; empty where none does. */
	mayExist: string;
}

const page = readFileSync(join(__dirname, '../../../docs/errors.md'), 'utf8');

function rowsUnder(heading: string): Row[] {
	const part = page.split(/^## /m).find((text) => text.startsWith(`${heading}\n`)) ?? '';
	const [, , ...lines] = part.split('\n').filter((line) => line.startsWith('|'));
	return lines.flatMap((line) => {
		const [, seen = '', toDo = ''] = line.split('|').map((cell) => cell.trim());
		const [, mayExist = '', advice = ''] =
			/^(\*\*.*job may exist(?:\.\*\*|\*\*, [^.]+\.))? ?(.*)$/.exec(toDo) ?? [];
		return seen.split('<br>').map((cell) => {
			const [, title = '', statuses = ''] = /^(.*?)(?: \((\d{3}[^)]*)\))?$/.exec(cell) ?? [];
			return { title, statuses: statusesIn(statuses), advice, mayExist };
		});
	});
}

/** "400–499 except 401, 403" as a list of numbers. */
function statusesIn(text: string): number[] {
	const [those = [], except = []] = text
		.split('except')
		.map((part) =>
			[...part.matchAll(/(\d+)(?:–(\d+))?/g)].flatMap(([, first, last = first]) =>
				range(Number(first), Number(last)),
			),
		);
	return those.filter((status) => !except.includes(status));
}

export const rows = [
	'The credential and the log-in',
	'A field of the node',
	'No answer',
	"The service's answer",
].flatMap(rowsUnder);

/** What an error says instead of its advice if the job may exist. The page has it in short, before its tables. */
const insteadOfAdvice =
	"Before you run this item again, look on the service for a job named '…' in namespace '…'. " +
	'The request had been sent, and this node did not send it again, so that no job is made twice.';

/** What a description may add that needs no explanation, and so isn't on the page. */
const selfExplanatory = [
	'The service says: "…" (HTTP …).',
	'The service gave no reason (HTTP …).',
	'The service answered other requests so (HTTP …).',
	'No host named … was found (…).',
	'No connection to … was possible (…).',
	'No connection was possible (…).',
	'The connection ended before anything was sent (…).',
	'The service, a proxy or the network ended the connection (…).',
	'The address is … (HTTP …).',
	'It answered with HTTP ….',
	"Redirects aren't followed, so that the token stays with the service.",
	'It sent … (HTTP …).',
	'The same page token came twice.',
	'… pages in a row brought nothing new.',
	'After … pages there was still another.',
	'The request was for …, which must not get the token.',
	'Nothing was sent. n8n says: "…".',
	'Nothing was sent: a proxy that a workflow names must not get the token.',
	"Job '…' in namespace '…' at ….",
	'Work clusters at ….',
	'It was tried … times.',
	'This is about item …, counting from 0.',
	'The jobs of these items may exist as well; look for them too: ….',
];

/** What a description may add that the page explains. */
export const explained = rowsUnder('What a description may add').map(({ title }) => title);

export const uncertain = '; the job may exist';

/** All that can stand beside an advice, or end a title. */
export const additions = [...explained, ...selfExplanatory, insteadOfAdvice, uncertain];

/** What a text of the page stands for, as the source of a pattern. */
export const sourceOf = (text: string) =>
	text
		.split('…')
		.map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'))
		.join('.+?');

/** Whether an error has the title of a row. */
export const isTitled = (row: Row, { title }: Shown) =>
	pattern(sourceOf(row.title)).test(title.replace(uncertain, ''));

/** A description is an advice, with nothing around it but what comes on top. */
function consistsOf(advice: string, description: string): boolean {
	const before = additions.filter((text) => text.startsWith('The service says')).map(sourceOf);
	const after = additions.map(sourceOf).join('|');
	return pattern(`(?:${before.join('|')}\\s?)?${sourceOf(advice)}(?:\\s?(?:${after}))*`).test(
		description,
	);
}

/** Each pattern is made once: there are thousands of errors to hold it against. */
const patterns = new Map<string, RegExp>();

function pattern(source: string): RegExp {
	const made = patterns.get(source) ?? new RegExp(`^${source}$`);
	patterns.set(source, made);
	return made;
}

/** Whether a row is all that a person wants to know of an error. */
export function tells(row: Row, error: Shown): boolean {
	if (!isTitled(row, error)) return false;
	return consistsOf(error.jobMayExist === true ? insteadOfAdvice : row.advice, error.description);
}
