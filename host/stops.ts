/** Collects functions that stop what was started. `stopAll` calls each of them once, in reverse order. */
export class Stops {
	private readonly waiting: Array<() => Promise<void>> = [];

	add(stop: () => Promise<void>): void {
		this.waiting.push(stop);
	}

	async stopAll(): Promise<void> {
		for (let next = this.waiting.pop(); next; next = this.waiting.pop()) await next();
	}
}
