import { parseArgs } from 'node:util';

import { Problem } from './problem';

/** The ports of the editor and of the sandbox, unless the command line names others. */
const EDITOR_PORT = 5678;
export const SANDBOX_PORT = 8765;

export const help = `Starts an n8n with this node in it, beside a sandbox of the service. The first start runs an example.

  npm start                         leaves the editor open until Ctrl-C
  npm start -- --once               only runs the example; the exit status is 0 only if it made a job
  npm start -- --port 5680          the editor's port (${EDITOR_PORT} otherwise); another if it is taken
  npm start -- --sandbox-port 8770  the sandbox's port (${SANDBOX_PORT} otherwise, and later that of the
                                    first start); another if it is taken
  npm start -- --watch              also compiles what you change, and n8n loads it without a restart;
                                    a debugger may be attached; npm run dev is the same

What you do in the editor is kept in host/.data/kept; later starts run nothing. With --once, n8n begins
with nothing each time.
`;

export type Options = ReturnType<typeof readOptions>;

/**
 * Returns the options of the command line.
 * @throws Problem if an option is unknown or has a wrong value
 */
export function readOptions(args: string[]) {
	const values = valuesIn(args);
	return {
		once: values.once,
		watch: values.watch,
		help: values.help,
		port: portIn(values, 'port') ?? EDITOR_PORT,
		sandboxPort: portIn(values, 'sandbox-port'),
	};
}

function valuesIn(args: string[]) {
	const flag = { type: 'boolean', default: false } as const;
	const port = { type: 'string' } as const;
	const options = { once: flag, watch: flag, help: flag, port, 'sandbox-port': port };
	try {
		return parseArgs({ args, options }).values;
	} catch (error) {
		throw new Problem(`${error instanceof Error ? error.message : String(error)}\n\n${help}`);
	}
}

/**
 * Returns the port that an option names; undefined if the option isn't given.
 * @throws Problem that names the option, if its value isn't a port
 */
function portIn<T extends string>(
	values: { [name in T]?: string | undefined },
	name: T,
): number | undefined {
	const text = values[name];
	if (text === undefined) return undefined;
	const port = Number(text);
	if (Number.isInteger(port) && port >= 1 && port <= 65_535) return port;
	throw new Problem(`--${name} wants a number from 1 to 65535.`);
}
