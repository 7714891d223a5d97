import type { TopLevelSpec } from 'vega-lite' with { 'resolution-mode': 'import' };

/** Draws what a specification of Vega-Lite says: an SVG. Needs no browser. */
export async function draw(specification: TopLevelSpec): Promise<string> {
	// Both are ES modules, which a CommonJS file can only import so.
	const [{ compile }, { parse, View }] = await Promise.all([import('vega-lite'), import('vega')]);
	const view = new View(parse(compile(specification).spec), { renderer: 'none' });
	return await view.toSVG();
}
