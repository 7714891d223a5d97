/** Thrown if the sandbox refuses a call. Its fields determine the error response. */
export class Refusal extends Error {
	/**
	 * @param status the HTTP status of the response
	 * @param code the kind of the error, for programs
	 * @param message a sentence for people
	 * @param headers additional headers of the response
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

	/** The body of the response. */
	get body() {
		return { code: this.code, message: this.message };
	}
}
