/** The type of the node's credential. */
export const credentialType = 'jobOrchestrationApi';

/** The credential that the examples use. */
export const sandboxCredential = { id: 'jobOrchSandbox01', name: 'Job Orchestration Sandbox' };

/** The address of a service and a login to it. */
export interface ServiceAccess {
	url: string;
	userName: string;
	password: string;
}

/** Returns the fields of the node's credential for a service. */
export function credentialData({ url, userName, password }: ServiceAccess) {
	return { baseUrl: url, userName, password, ignoreSslIssues: false, accessToken: '' };
}
