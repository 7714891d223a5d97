/** Where a sandbox is, and who may log in. */
export interface Target {
	url: string;
	userName: string;
	password: string;
}

/** Two sandboxes: one to measure, and one to warm up on, which leaves the other untouched. */
export interface Opened {
	measured: Target;
	warmUp: Target;
}
