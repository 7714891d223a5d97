/** Something that a person can do something about: its message is all that is shown, no stack. */
export class Problem extends Error {
	/**
	 * @param message what happened, and what to do about it
	 * @param logFile where the details are, if anywhere
	 */
	constructor(
		message: string,
		readonly logFile?: string,
	) {
		super(message);
		this.name = 'Problem';
	}
}

/** Thrown where something was given up because the person wants to stop. */
export class Stopped extends Error {
	constructor() {
		super('Stopped');
		this.name = 'Stopped';
	}
}
