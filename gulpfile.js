const { dest, src } = require('gulp');

/** Brings into dist what the compiler leaves behind: the icons, and the node's entry in n8n's panel. */
function copyAssets() {
	return src('nodes/**/*.{svg,node.json}', { encoding: false }).pipe(dest('dist/nodes'));
}

exports.default = copyAssets;
