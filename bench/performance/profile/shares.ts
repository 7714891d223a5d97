import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import type { ContenderName } from '../contenders';
import type { Shares } from '../figures';
import type { Case } from '../plan';
import type { Runner } from '../runner';

/** A .cpuprofile, as far as it is used here. */
interface Profile {
	nodes: Array<{
		id: number;
		callFrame: { functionName: string; url: string };
		children?: number[];
	}>;
	samples: number[];
	timeDeltas: number[];
}

/** The parts that time is told apart by: a sample belongs to the first that is found from its frame outwards. */
const PARTS: Array<{ title: string; has: (functionName: string, url: string) => boolean }> = [
	{ title: 'waiting for the service', has: (name) => name === '(idle)' },
	{ title: 'collecting garbage', has: (name) => name === '(garbage collector)' },
	{ title: 'the profiler itself', has: (_, url) => url === 'node:inspector' },
	{
		title: "this package's own code",
		has: (_, url) => /dist\/(?:nodes|credentials)\/J/.test(url),
	},
	{
		title: "n8n's parameters and expressions",
		has: (name, url) => /n8n-workflow/.test(url) || name === '_getNodeParameter',
	},
	{
		title: "n8n's request helper and axios",
		has: (_, url) =>
			/backend-network|axios|follow-redirects|proxy-from-env|request-helpers/.test(url),
	},
	{ title: "the rest of n8n's engine", has: (_, url) => /n8n-core/.test(url) },
];
const REST = "Node's sockets and HTTP, and its event loop";

/** Where the time of a task goes, for each contender of a case. */
export async function profileShares(
	runner: Runner,
	of: Case,
	say: (detail: string) => void,
): Promise<Partial<Record<ContenderName, Shares>>> {
	const folder = await mkdtemp(join(tmpdir(), 'bench-'));
	const shares: Partial<Record<ContenderName, Shares>> = {};
	try {
		for (const contender of of.contenders) {
			say(contender);
			const file = join(folder, `${contender}.cpuprofile`);
			await runner.profile(of, contender, file);
			shares[contender] = sharesIn(JSON.parse(await readFile(file, 'utf8')) as Profile);
		}
	} finally {
		await rm(folder, { recursive: true, force: true });
	}
	return shares;
}

function sharesIn({ nodes, samples, timeDeltas }: Profile): Shares {
	const byId = new Map(nodes.map((node) => [node.id, node]));
	const parents = new Map(
		nodes.flatMap(({ id, children = [] }) => children.map((child) => [child, id] as const)),
	);
	const partOf = (id: number | undefined): string => {
		const node = id === undefined ? undefined : byId.get(id);
		if (id === undefined || node === undefined) return REST;
		const { functionName, url } = node.callFrame;
		const part = PARTS.find(({ has }) => has(functionName, url));
		return part?.title ?? partOf(parents.get(id));
	};
	const titles = new Map(nodes.map(({ id }) => [id, partOf(id)]));

	const shares: Shares = Object.fromEntries(
		[...PARTS, { title: REST }].map(({ title }) => [title, 0]),
	);
	const whole = timeDeltas.reduce((sum, delta) => sum + delta, 0);
	for (const [index, id] of samples.entries()) {
		const title = titles.get(id) ?? REST;
		shares[title] = (shares[title] ?? 0) + (timeDeltas[index] ?? 0) / whole;
	}
	return shares;
}
