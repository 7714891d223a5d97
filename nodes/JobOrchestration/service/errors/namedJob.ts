import { truncate } from './meaning';

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
export const shorten = (name: string) => truncate(name, MAX_NAME);

/** "'Report' in namespace 'default'" */
export function nameOf(job: NamedJob): string {
	const { displayName, namespace } = withShortNames(job);
	return `'${displayName}' in namespace '${namespace}'`;
}
