import type { ICredentialDataDecryptedObject, INodeCredentialsDetails } from 'n8n-workflow';

import { create, numbered } from '../support/fixture';
import { CredentialsInMemory } from '../support/credentialsHelper';
import { Engine } from '../support/run';

/*
 * A process that runs executions until its parent says that it is enough. Its credential lies with the parent, which
 * serves several such processes: they share it as n8n's workers share a database.
 */

/** What is said to the parent, who answers a `read` with the credential. */
export type ToParent =
	| { kind: 'ready' }
	| { kind: 'read'; id: number }
	| { kind: 'write'; id: number; data: ICredentialDataDecryptedObject }
	| { kind: 'done'; items: number; errors: string[] };

export type ToWorker =
	| { kind: 'begin'; itemsEach: number }
	| { kind: 'end' }
	| { kind: 'answer'; id: number; data: ICredentialDataDecryptedObject };

const say = (message: ToParent) => process.send?.(message);

const questions = new Map<number, (data: ICredentialDataDecryptedObject) => void>();
let asked = 0;

/** Asks the parent, and waits for its answer. */
async function ask(
	question: { kind: 'read' } | { kind: 'write'; data: ICredentialDataDecryptedObject },
): Promise<ICredentialDataDecryptedObject> {
	const id = (asked += 1);
	const answer = new Promise<ICredentialDataDecryptedObject>((resolve) =>
		questions.set(id, resolve),
	);
	say({ ...question, id });
	return await answer;
}

class SharedCredentials extends CredentialsInMemory {
	protected override async read(): Promise<ICredentialDataDecryptedObject> {
		return await ask({ kind: 'read' });
	}

	override async updateCredentials(
		_credential: INodeCredentialsDetails,
		_type: string,
		data: ICredentialDataDecryptedObject,
	): Promise<void> {
		await ask({ kind: 'write', data });
	}
}

let isOver = false;

async function run(itemsEach: number): Promise<void> {
	const engine = await Engine.load(SharedCredentials);
	say({ kind: 'ready' });
	const errors: string[] = [];
	let items = 0;
	while (!isOver) {
		const parameters = create({
			displayName: `=${process.pid} {{ $json.n }}`,
			options: { concurrency: 5 },
		});
		const node = { parameters, onError: 'continueRegularOutput' } as const;
		const results = await Promise.all(
			[1, 2].map(async () => await engine.run(node, numbered(itemsEach))),
		);
		for (const result of results) {
			items += result.items.length;
			errors.push(
				...result.items.flatMap(({ json }) => (json.error ? [String(json.message)] : [])),
			);
		}
	}
	say({ kind: 'done', items, errors });
	process.disconnect();
}

process.on('message', (message: ToWorker) => {
	if (message.kind === 'begin') void run(message.itemsEach);
	if (message.kind === 'end') isOver = true;
	if (message.kind === 'answer') questions.get(message.id)?.(message.data);
});
