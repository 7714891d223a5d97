/*
 * What the page is put together from. Text only ever gets into it as text, so nothing that a job is called
 * can do anything.
 */

/** An element with its class, text, title and children, each as far as it is given. */
export function element(tag, { className = '', text, title, children = [] } = {}) {
	const made = document.createElement(tag);
	if (className) made.className = className;
	if (text !== undefined) made.textContent = text;
	if (title !== undefined) made.title = title;
	made.append(...children);
	return made;
}

/** A row of a table. */
export const row = (...cells) => element('tr', { children: cells });

/** A cell with a text. */
export const cell = (text, className) => element('td', { text, className });

/** A cell with lines below each other, which are elements or text. */
export const lines = (title, ...children) => element('td', { className: 'long', title, children });

/** A cell with a text in a coloured badge. */
export const badge = (text, className) =>
	element('td', { children: [element('span', { text, className: `state ${className}` })] });

/** A button. */
export function button(text, act, { className, title } = {}) {
	const made = element('button', { text, className, title });
	made.type = 'button';
	made.addEventListener('click', () => act(made));
	return made;
}

/** A text with a button beside it that copies it. */
export function copyable(text, what, tag = 'span') {
	const copy = button(
		'Copy',
		async (pressed) => {
			await navigator.clipboard.writeText(text);
			pressed.textContent = 'Copied';
			setTimeout(() => (pressed.textContent = 'Copy'), 1500);
		},
		{ title: `Copy ${what}` },
	);
	return element('span', {
		className: 'copyable',
		children: [element(tag, { text, className: 'code' }), copy],
	});
}

/** A list of terms, each with a text or an element. */
export function terms(entries) {
	return entries.flatMap(([term, said]) => [
		element('dt', { text: term }),
		element('dd', { children: [said] }),
	]);
}
