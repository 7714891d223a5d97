/** Shows what a step is doing, such as `1200 of 2085 requests`. */
export type Say = (detail: string) => void;

/**
 * Shows which step is running, how many steps there are, and how long the step has been running.
 *
 * The library listr2 isn't used: if its output goes to a file, as in CI, it doesn't show that a step is still running.
 */
export class Steps {
	private current = 0;

	/**
	 * @param total the number of steps
	 * @param out the stream to write to
	 */
	constructor(
		private readonly total: number,
		private readonly out: NodeJS.WriteStream = process.stdout,
	) {}

	/** Runs a step, and shows its title, its duration and whether it was completed. Returns what `work` returns. */
	async run<T>(title: string, work: (say: Say) => Promise<T>): Promise<T> {
		const heading = this.nextHeading(title);
		const startedAt = Date.now();
		let detail = '';
		const { isTTY } = this.out;
		// In a terminal, replaces the current line. In a file, adds a line.
		const write = (ending = '') => {
			const seconds = Math.round((Date.now() - startedAt) / 1000);
			const line = [`${heading} … ${seconds} s`, detail, ending].filter(Boolean).join(', ');
			this.out.write(isTTY ? `\r${line.slice(0, this.out.columns)}\x1b[K` : `${line}\n`);
			if (isTTY && ending) this.out.write('\n');
		};
		write();
		const ticker = setInterval(write, isTTY ? 1_000 : 15_000);
		try {
			const result = await work((text) => (detail = text));
			detail = '';
			write('done');
			return result;
		} catch (error) {
			write('not done');
			throw error;
		} finally {
			clearInterval(ticker);
		}
	}

	/** Shows a step that doesn't have to run. */
	alreadyDone(title: string): void {
		this.out.write(`${this.nextHeading(title)}\n`);
	}

	private nextHeading(title: string): string {
		this.current += 1;
		return `${this.current}/${this.total} ${title}`;
	}
}
