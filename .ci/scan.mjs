/*
 * n8n's scanner of community packages, on what `npm pack` would publish and on the sources. Its command line does
 * the same, but only with a package that is on npm already, and checks its provenance there.
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import {
	analyzePackage,
	SOURCE_FILE_PATTERNS,
} from '@n8n/scan-community-package/scanner/scanner.mjs';

const folder = mkdtempSync(join(tmpdir(), 'scan-'));
try {
	execFileSync('npm', ['pack', '--loglevel=error', '--pack-destination', folder]);
	const [packed] = readdirSync(folder);
	execFileSync('tar', ['-xzf', join(folder, packed), '-C', folder]);

	const scans = {
		'The sources': await analyzePackage(process.cwd(), SOURCE_FILE_PATTERNS),
		[packed]: await analyzePackage(join(folder, 'package'), ['**/*.js', 'package.json']),
	};
	for (const [name, { passed, message = '', details = '' }] of Object.entries(scans)) {
		console.log(`${name}: ${passed ? 'passed' : `failed. ${message}\n${details}`}`);
		if (!passed) process.exitCode = 1;
	}
} finally {
	rmSync(folder, { recursive: true });
}
