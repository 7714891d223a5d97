/** Says what a step is doing, such as `1200 of 2085 requests`. */
export type Say = (detail: string) => void;

/**
 * Shows which step of how many is running, and for how long.
 * The library listr2 doesn't serve here: in a file, as in the log of CI, it doesn't say while a step runs that it still does.
 */
export class Steps {
	private current = 0;

	/**
	 * @param total how many steps there will be
	 * @param out where to write
	 */
	constructor(
		private readonly total: number,
		private readonly out: NodeJS.WriteStream = process.stdout,
	) {}

	/** Does a step, and writes what it is, how long it takes and how it ended. */
	async run<T>(title: string, work: (say: Say) => Promise<T>): Promise<T> {
		const heading = this.nextHeading(title);
		const startedAt = Date.now();
		let detail = '';
		const { isTTY } = this.out;
		// Over the last line in a terminal, as another line in a file.
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

	/** Writes that a step is not needed. */
	alreadyDone(title: string): void {
		this.out.write(`${this.nextHeading(title)}\n`);
	}

	private nextHeading(title: string): string {
		this.current += 1;
		return `${this.current}/${this.total} ${title}`;
	}
}
