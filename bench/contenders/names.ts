/** The names of the contenders in the tables. */
export const titles = {
	thisNode: '**this node**',
	oneAtATime: 'one at a time',
	httpRequest: 'HTTP Request node, this credential',
	httpRequestPlain: 'HTTP Request node, plain credential',
	bareHelper: "the engine's bare helper",
	bareHelperWithExpression: 'the bare helper, one expression',
	bareHelperWithCredential: 'the bare helper, one expression, plain credential',
	threeLines: "three lines with n8n's bare helper, plain credential",
} as const;

export type ContenderName = keyof typeof titles;

export const contenderNames = Object.keys(titles) as ContenderName[];

/** Returns whether the contender is one of n8n's own nodes. It then needs the n8n that `npm start` installs. */
export function needsN8n(name: ContenderName): boolean {
	return name.startsWith('httpRequest');
}
