// What is not published: the sandbox, the host, the tests. n8n's own rules (eslint.config.mjs, which must
// stay as n8n has it) are for code that runs inside n8n, where Node's modules and timers are forbidden.
import eslint from '@eslint/js';
import globals from 'globals';
import tseslint from 'typescript-eslint';

export default tseslint.config(
	{ ignores: ['**/node_modules', '**/.data', 'dist'] },
	eslint.configs.recommended,
	tseslint.configs.strict,
	{ files: ['**/*.mjs'], languageOptions: { globals: globals.node } },
	{
		files: ['**/*.cjs', '**/*.config.js'],
		languageOptions: { sourceType: 'commonjs', globals: globals.node },
		rules: { '@typescript-eslint/no-require-imports': 'off' },
	},
);
