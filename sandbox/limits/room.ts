/** Room for a number of calls at once; the others wait in line. */
export class Room {
	/** The most that were inside or in line at once. */
	most = 0;
	private inside = 0;
	private readonly line: Array<() => void> = [];

	constructor(private readonly places: number) {}

	get underWay(): number {
		return this.inside + this.line.length;
	}

	/**
	 * Waits for a place.
	 * @returns what gives it back; may be called twice
	 */
	async enter(): Promise<() => void> {
		const isFree = this.inside < this.places;
		const place = isFree ? undefined : new Promise<void>((resolve) => this.line.push(resolve));
		if (isFree) this.inside += 1;
		this.most = Math.max(this.most, this.underWay);
		await place;
		let isInside = true;
		return () => {
			if (!isInside) return;
			isInside = false;
			const next = this.line.shift();
			if (next) next();
			else this.inside -= 1;
		};
	}
}
