/** The output and the error of an execution. */
export interface ExecutionResult {
	/** For each node, by its name: the items at its first output in its last run. */
	output: Record<string, Array<Record<string, unknown>>>;
	/** The error that ended the execution, with the name of the node. */
	error?: string;
}

/** The fields of an execution's data that are read here (see IRunExecutionData in n8n-workflow). */
interface ExecutionData {
	resultData: {
		error?: { message?: string; description?: string | null };
		lastNodeExecuted?: string;
		/** The runs of each node, by its name. */
		runData: Record<
			string,
			Array<{ data?: { main?: Array<Array<{ json: Record<string, unknown> }> | null> } }>
		>;
	};
}

/**
 * Returns the result of an execution.
 * @param stored the execution's data as n8n stores it, which is in the format of the library flatted
 */
export async function resultOf(stored: string): Promise<ExecutionResult> {
	const { parse } = await import('flatted');
	const { resultData } = parse(stored) as ExecutionData;
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
