/** Room for so many calls at once; the others wait in line. Counts both. */
export class Room {
	most = 0;
	mostWaiting = 0;
	private inside = 0;
	private readonly line: Array<() => void> = [];
	/** Milliseconds in which a call was under way; and those that calls waited, in all. */
	private busy = 0;
	private waited = 0;
	private countedAt = performance.now();

	constructor(private readonly places: number) {}

	get underWay(): number {
		return this.inside + this.line.length;
	}

	get averageWaiting(): number {
		this.count();
		return this.busy === 0 ? 0 : this.waited / this.busy;
	}

	/**
	 * Waits for a place.
	 * @returns what gives it back
	 */
	async enter(): Promise<() => void> {
		this.count();
		const place =
			this.inside < this.places
				? undefined
				: new Promise<void>((resolve) => this.line.push(resolve));
		if (place === undefined) this.inside += 1;
		this.most = Math.max(this.most, this.underWay);
		this.mostWaiting = Math.max(this.mostWaiting, this.line.length);
		await place;
		let isInside = true;
		return () => {
			if (!isInside) return;
			isInside = false;
			this.count();
			const next = this.line.shift();
			if (next === undefined) this.inside -= 1;
			else next();
		};
	}

	reset(): void {
		this.most = this.underWay;
		this.mostWaiting = this.line.length;
		this.busy = this.waited = 0;
		this.countedAt = performance.now();
	}

	private count(): void {
		const now = performance.now();
		if (this.underWay > 0) this.busy += now - this.countedAt;
		this.waited += this.line.length * (now - this.countedAt);
		this.countedAt = now;
	}
}
