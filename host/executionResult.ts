/** The output and the error of an execution. */
export interface ExecutionResult {
	/** For each node, by its name: the items at its first output in its last run. */
	output: Record<string, Array<Record<string, unknown>>>;
	/** The error that ended the execution, with the name of the node. */
	error?: string;
}

/** What n8n stores of each run of each node, by the name of the node (see IRunData in n8n-workflow). */
export type RunData = Record<
	string,
	Array<{ data?: { main?: Array<Array<{ json: Record<string, unknown> }> | null> } }>
>;

/** The fields of an execution's data that are read here (see IRunExecutionData in n8n-workflow). */
interface ExecutionData {
	resultData: {
		error?: { message?: string; description?: string | null };
		lastNodeExecuted?: string;
		runData: RunData;
	};
}

/**
 * Returns the result of an execution.
 * @param stored the execution's data as n8n stores it, which is in the format of the library flatted
 */
export async function resultOf(stored: string): Promise<ExecutionResult> {
	const { resultData } = await parsed(stored);
	const output = Object.entries(resultData.runData).map(([name, runs]) => {
		const items = runs.at(-1)?.data?.main?.[0] ?? [];
		return [name, items.map(({ json }) => json)] as const;
	});
	const { error, lastNodeExecuted } = resultData;
	const says = [error?.message ?? 'an error without a text', error?.description].filter(Boolean);
	return {
		output: Object.fromEntries(output),
		...(error && { error: [lastNodeExecuted, says.join(' ')].filter(Boolean).join(': ') }),
	};
}

/** Returns the runs in an execution's data. @param stored as for `resultOf` */
export async function runDataOf(stored: string): Promise<RunData> {
	return (await parsed(stored)).resultData.runData;
}

async function parsed(stored: string): Promise<ExecutionData> {
	const { parse } = await import('flatted');
	return parse(stored) as ExecutionData;
}
