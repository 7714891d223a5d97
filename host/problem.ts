/** An error that the user can resolve. Only its message is shown, without a stack trace. */
export class Problem extends Error {
	/**
	 * @param message what happened, and what to do about it
	 * @param logFile the log file that contains the details, if there is one
	 */
	constructor(
		message: string,
		readonly logFile?: string,
	) {
		super(message);
		this.name = 'Problem';
	}
}
