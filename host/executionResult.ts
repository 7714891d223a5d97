/** What an execution did. */
export interface ExecutionResult {
	/** What each node put out at its first output in its last run, by its name. */
	output: Record<string, Array<Record<string, unknown>>>;
	/** What stopped it, with the name of the node that did. */
	error?: string;
}

/** The part of an execution's data that is read here (IRunExecutionData in n8n-workflow). */
interface ExecutionData {
	resultData: {
		error?: { message?: string; description?: string | null };
		lastNodeExecuted?: string;
		runData: Record<
			string,
			Array<{ data?: { main?: Array<Array<{ json: Record<string, unknown> }> | null> } }>
		>;
	};
}

/** Reads an execution's data, as n8n stores it. */
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
