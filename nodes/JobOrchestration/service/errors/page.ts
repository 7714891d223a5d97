/*
 * Recognises and reads web pages, which come from the service or from what is in front of it, such as a proxy.
 */

/** The number of characters at the start of a text by which a web page is recognised. */
const MAX_START = 500;

/** Matches what may precede the first element of a page. */
const PROLOG = /^(?:\s|<\?[^>]*>|<!--.*?-->)*/s;

/**
 * Decides whether a text is a web page, rather than a message for a program.
 *
 * @param isHtml whether its content type is HTML, which some services also give to plain text
 */
export function isWebPage(text: string, isHtml: boolean): boolean {
	const start = text.slice(0, MAX_START).replace(PROLOG, '');
	return isHtml ? start.startsWith('<') : /^<(?:!doctype\s+html|html)[\s>]/i.test(start);
}

/** The number of characters of a page that are read. In some pages, 50,000 characters of styles precede the text. */
const MAX_PAGE = 200_000;

/** Matches what a browser doesn't show. An element that is not closed hides the rest of the page. */
const HIDDEN = /<!--.*?(?:-->|$)|<(script|style|svg|template|noscript)\b.*?(?:<\/\1\s*>|$)/gis;

/**
 * Matches a tag that may stand within a sentence. At any other tag, a text ends. These are the elements of HTML that error
 * pages use inside a sentence: nothing in a page itself says which elements end a text.
 */
const INLINE = /^<\/?(?:a|abbr|b|code|em|font|i|small|span|strong|tt|u)[\s>]/i;

/**
 * Returns the texts of a page in order, from its title, its first heading or its first `<pre>` on. After the last
 * `<hr>`, only texts that end with `.`, `!` or `?` are kept: the name of the server has none of these at its end.
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
	// If the page is longer than what is read, its last text could end within a secret.
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
