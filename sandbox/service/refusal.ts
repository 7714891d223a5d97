/** Thrown where the service refuses a call: becomes the answer's status and error body. */
export class Refusal extends Error {
	/**
	 * @param status the answer's HTTP status
	 * @param code a word for programs
	 * @param message a sentence for people
	 * @param headers that the answer has besides
	 */
	constructor(
		readonly status: number,
		readonly code: string,
		message: string,
		readonly headers: Record<string, string> = {},
	) {
		super(message);
		this.name = 'Refusal';
	}

	/** The error as it is sent. */
	get body() {
		return { code: this.code, message: this.message };
	}
}
