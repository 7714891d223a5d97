// What n8n's database layer (@n8n/typeorm, driver/sqlite-pooled) uses of the npm package `sqlite3`,
// made of Node's own `node:sqlite`. It needs no compiler and no download. Its calls hold up the process
// while they last, which a host for one person does not notice.
const { DatabaseSync } = require('node:sqlite');

/** SQLite's primary result codes (sqlite.org/rescode.html): sqlite3 begins its messages with them. */
const codeNames = [
	'OK ERROR INTERNAL PERM ABORT BUSY LOCKED NOMEM READONLY INTERRUPT IOERR CORRUPT NOTFOUND FULL',
	'CANTOPEN PROTOCOL EMPTY SCHEMA TOOBIG CONSTRAINT MISMATCH MISUSE NOLFS AUTH FORMAT RANGE NOTADB',
]
	.join(' ')
	.split(' ');

const OPEN_READONLY = 1;
const OPEN_READWRITE = 2;
const OPEN_CREATE = 4;
const OPEN_URI = 0x40;

class Database {
	/**
	 * @param {string} path
	 * @param {unknown[]} rest the flags, if any, and what is called when it is open
	 */
	constructor(path, ...rest) {
		const callback = rest.pop();
		const flags = rest[0] ?? OPEN_READWRITE | OPEN_CREATE;
		this.#answer(callback, () => {
			this.#database = new DatabaseSync(path, {
				readOnly: (flags & OPEN_READONLY) !== 0,
				// As sqlite3 has them.
				enableForeignKeyConstraints: false,
				enableDoubleQuotedStringLiterals: true,
				// One of n8n's migrations writes to sqlite_master.
				defensive: false,
			});
			return {};
		});
	}

	/** @type {DatabaseSync | undefined} */
	#database;

	run(sql, ...rest) {
		return this.#query(rest, (values) => {
			const { changes, lastInsertRowid } = this.#prepare(sql).run(...values);
			return { context: { changes: Number(changes), lastID: Number(lastInsertRowid) } };
		});
	}

	all(sql, ...rest) {
		return this.#query(rest, (values) => ({
			result: this.#prepare(sql)
				.all(...values)
				.map(toRow),
		}));
	}

	get(sql, ...rest) {
		return this.#query(rest, (values) => {
			const row = this.#prepare(sql).get(...values);
			return { result: row && toRow(row) };
		});
	}

	exec(sql, callback) {
		return this.#answer(callback, () => {
			this.#database.exec(sql);
			return {};
		});
	}

	close(callback) {
		return this.#answer(callback, () => {
			this.#database.close();
			return {};
		});
	}

	#prepare(sql) {
		return this.#database.prepare(sql);
	}

	/** Takes apart what comes after the statement: a list of values, if any, and the callback. */
	#query(rest, work) {
		const callback = rest.find((argument) => typeof argument === 'function');
		const values = rest.find(Array.isArray) ?? [];
		return this.#answer(callback, () => work(values.map(toBound)));
	}

	/** Does the work now, tells of it later. sqlite3 puts figures into the callback's `this`. */
	#answer(callback, work) {
		let error = null;
		let done = {};
		try {
			done = work();
		} catch (thrown) {
			error = toError(thrown);
		}
		if (callback) setImmediate(() => callback.call(done.context ?? this, error, done.result));
		return this;
	}
}

/** A value as sqlite3 binds it: node:sqlite refuses some of them. */
function toBound(value) {
	if (value === undefined || value === null) return null;
	if (typeof value === 'boolean') return value ? 1 : 0;
	if (value instanceof Date) return value.getTime();
	if (ArrayBuffer.isView(value)) return value;
	return typeof value === 'object' ? String(value) : value;
}

/** A row as sqlite3 gives it: an ordinary object, with binary values as Buffers. */
function toRow(row) {
	const entries = Object.entries(row).map(([name, value]) => [
		name,
		value instanceof Uint8Array ? Buffer.from(value) : value,
	]);
	return Object.fromEntries(entries);
}

function toError(thrown) {
	if (typeof thrown.errcode !== 'number') return thrown;
	const code = `SQLITE_${codeNames[thrown.errcode & 0xff] ?? 'ERROR'}`;
	return Object.assign(new Error(`${code}: ${thrown.message}`), {
		code,
		errno: thrown.errcode & 0xff,
	});
}

const sqlite3 = {
	Database,
	OPEN_READONLY,
	OPEN_READWRITE,
	OPEN_CREATE,
	OPEN_URI,
	verbose: () => sqlite3,
};

module.exports = sqlite3;
