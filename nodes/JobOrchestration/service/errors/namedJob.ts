/** A job by what people look for it. */
export interface NamedJob {
	namespace: string;
	displayName: string;
}

/** Characters of a name at most. With all, an error of 400 jobs with names of 20 kB would have millions. */
const MAX_NAME = 100;

/** A job with its names as errors, hints and logs show them: cut if they are long. */
export function withShortNames<Job extends NamedJob>(job: Job): Job {
	return { ...job, namespace: shorten(job.namespace), displayName: shorten(job.displayName) };
}

/** A name or an ID as a sentence shows it, cut if it is long. */
export function shorten(name: string): string {
	// No more than the beginning is split into characters.
	const characters = [...name.slice(0, 2 * MAX_NAME + 1)];
	return characters.length <= MAX_NAME ? name : `${characters.slice(0, MAX_NAME - 1).join('')}…`;
}

/** "'Report' in namespace 'default'" */
export function nameOf(job: NamedJob): string {
	const { displayName, namespace } = withShortNames(job);
	return `'${displayName}' in namespace '${namespace}'`;
}
