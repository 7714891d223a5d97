// What is not published: the sandbox, the host, the tests. n8n's own rules (eslint.config.mjs, which must
// stay as n8n has it) are for code that runs inside n8n, where Node's modules and timers are forbidden.
// What is published is looked at too, for what n8n's rules leave out: promises that nobody waits for.
import eslint from '@eslint/js';
import globals from 'globals';
import tseslint from 'typescript-eslint';

export default tseslint.config(
	{ ignores: ['**/node_modules', '**/.data', 'dist'] },
	eslint.configs.recommended,
	tseslint.configs.strict,
	{
		files: ['**/*.ts'],
		languageOptions: {
			parserOptions: {
				// The one that knows all files: a program for each would take twice as long.
				project: ['tsconfig.tools.json'],
				tsconfigRootDir: import.meta.dirname,
			},
		},
		rules: {
			'@typescript-eslint/await-thenable': 'error',
			'@typescript-eslint/no-floating-promises': 'error',
			'@typescript-eslint/no-misused-promises': 'error',
		},
	},
	{ files: ['**/*.mjs'], languageOptions: { globals: globals.node } },
	{ files: ['sandbox/page/*.js'], languageOptions: { globals: globals.browser } },
	{
		files: ['**/*.cjs', '**/*.config.js'],
		languageOptions: { sourceType: 'commonjs', globals: globals.node },
		rules: { '@typescript-eslint/no-require-imports': 'off' },
	},
);
