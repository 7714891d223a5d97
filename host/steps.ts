/** How often progress is written: over the last line in a terminal, as another line in a file. */
const secondsBetweenLines = { terminal: 1, file: 15 } as const;

/** Says what a step is at, such as `1200 of 2085 packages`. */
export type Say = (detail: string) => void;

/** Tells a person which step of how many is under way, and for how long. */
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
		const write = (ending: string) => {
			const parts = [`${Math.round((Date.now() - startedAt) / 1000)} s`, detail].filter(Boolean);
			const line = `${heading} … ${parts.join(', ')}${ending}`;
			if (this.out.isTTY) {
				this.out.cursorTo(0);
				this.out.write(line.slice(0, this.out.columns || 80));
				this.out.clearLine(1);
				if (ending) this.out.write('\n');
			} else {
				this.out.write(`${line}\n`);
			}
		};
		const { terminal, file } = secondsBetweenLines;
		const ticker = setInterval(() => write(''), (this.out.isTTY ? terminal : file) * 1000);
		if (this.out.isTTY) write('');
		else this.out.write(`${heading} …\n`);
		try {
			const result = await work((text) => {
				detail = text;
			});
			detail = '';
			write(', done');
			return result;
		} catch (error) {
			write(', not done');
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
