/** What is to be stopped at the end: the last that was started first, and each once. */
export class Stops {
	private readonly waiting: Array<() => Promise<void>> = [];

	add(stop: () => Promise<void>): void {
		this.waiting.push(stop);
	}

	async stopAll(): Promise<void> {
		for (let next = this.waiting.pop(); next; next = this.waiting.pop()) await next();
	}
}
