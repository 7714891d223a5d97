// Loaded into n8n before anything else (`node --require`), where its SQLite driver could not be had on
// this machine: whoever asks for `sqlite3` is given the stand-in beside this file.
const { registerHooks } = require('node:module');
const { join } = require('node:path');
const { pathToFileURL } = require('node:url');

const standIn = {
	url: pathToFileURL(join(__dirname, 'sqlite3.cjs')).href,
	format: 'commonjs',
	shortCircuit: true,
};

registerHooks({
	resolve: (specifier, context, next) =>
		specifier === 'sqlite3' ? standIn : next(specifier, context),
});
