/**
 * A chart in Mermaid's `xychart-beta`, which GitHub draws: what got through as bars, what the service takes as a line.
 *
 * @param bySecond how many jobs were created in the first second, in the next, and so on
 */
export function chart(title: string, bySecond: number[], perSecond: number): string {
	const seconds = bySecond.map((_, second) => String(second + 1));
	return [
		'```mermaid',
		'xychart-beta',
		`    title "${title}"`,
		`    x-axis "second" [${seconds.join(', ')}]`,
		'    y-axis "jobs created"',
		`    bar [${bySecond.join(', ')}]`,
		`    line [${seconds.map(() => perSecond).join(', ')}]`,
		'```',
	].join('\n');
}
