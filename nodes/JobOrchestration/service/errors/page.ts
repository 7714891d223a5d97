/*
 * Web pages, which come from the service or from what stands before it: whether a text is one, and what it says.
 */

/** Characters of a text in which a page shows itself. */
const MAX_START = 500;

/** What may come before the first element of a page. */
const PROLOG = /^(?:\s|<\?[^>]*>|<!--.*?-->)*/s;

/**
 * Whether a text is a web page, rather than a message for a program.
 *
 * @param isHtml whether it came as HTML: some services send each plain text so
 */
export function isWebPage(text: string, isHtml: boolean): boolean {
	const start = text.slice(0, MAX_START).replace(PROLOG, '');
	return isHtml ? start.startsWith('<') : /^<(?:!doctype\s+html|html)[\s>]/i.test(start);
}

/** Characters of a page that are read. The text of some pages follows 50,000 characters of styles. */
const MAX_PAGE = 200_000;

/** What a browser doesn't show. An element without an end hides the rest of the page. */
const HIDDEN = /<!--.*?(?:-->|$)|<(script|style|svg|template|noscript)\b.*?(?:<\/\1\s*>|$)/gis;

/** A tag within a sentence. At any other, a text ends. */
const INLINE = /^<\/?(?:a|abbr|b|code|em|font|i|small|span|strong|tt|u)[\s>]/i;

/**
 * The texts of a page, in order, from its title or its first heading on. After the last rule (`<hr>`), only texts with a full
 * stop are kept: the server's name has none.
 */
export function textsOfPage(page: string): string[] {
	const shown = page.slice(0, MAX_PAGE).replace(HIDDEN, '');
	const start = shown.search(/<(?:title|h[1-6]|pre)\b/i);
	if (start < 0) return [];
	const footer = Math.max(start, shown.toLowerCase().lastIndexOf('<hr'));
	const textsIn = (part: string) =>
		part
			.replace(/<[/!?a-z][^<>]*>?/gi, (tag) => (INLINE.test(tag) ? '' : '\0'))
			.split('\0')
			.map(decodeEntities);
	const own = textsIn(shown.slice(start, footer > start ? footer : undefined));
	const last = footer > start ? textsIn(shown.slice(footer)) : [];
	// The last text of a page that was cut could end within a secret.
	if (page.length > MAX_PAGE) (last.length > 0 ? last : own).pop();
	return [...own, ...last.filter((text) => /[.!?]\s*$/.test(text))];
}

const ENTITIES = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'", nbsp: ' ' };

const decodeEntities = (text: string) =>
	text.replace(
		/&(?:#(\d{1,6})|#x([\da-f]{1,5})|(amp|lt|gt|quot|apos|nbsp));/g,
		(_, decimal, hex, name) =>
			name === undefined
				? String.fromCodePoint(decimal === undefined ? parseInt(String(hex), 16) : Number(decimal))
				: ENTITIES[name as keyof typeof ENTITIES],
	);
