import type { ICredentialTestRequest, ICredentialType, INodeProperties } from 'n8n-workflow';

import { text, toggle } from '../nodes/JobOrchestration/fields/form';
import { newToken } from '../nodes/JobOrchestration/service/session/credential';
import { testRequest, withToken } from '../nodes/JobOrchestration/service/session/otherNodes';

/** Returns a rule for n8n's test of the credential: the message that n8n shows instead of the name of a status code. */
const rule = (value: number, message: string) =>
	({ type: 'responseCode', properties: { value, message } }) as const;

export class JobOrchestrationApi implements ICredentialType {
	name = 'jobOrchestrationApi';

	displayName = 'Job Orchestration API';

	icon = {
		light: 'file:../nodes/JobOrchestration/jobOrchestration.svg',
		dark: 'file:../nodes/JobOrchestration/jobOrchestration.dark.svg',
	} as const;

	documentationUrl =
		'https://github.com/n8n-nodes-job-orchestration/n8n-nodes-job-orchestration#credential';

	properties: INodeProperties[] = [
		text('Base URL', 'baseUrl', {
			required: true,
			placeholder: 'e.g. https://jobs.example.com',
			description: 'Address of the service: the part before /oauth/login and /api/v1',
		}),
		text('Username', 'userName', { required: true }),
		text('Password', 'password', { typeOptions: { password: true }, required: true }),
		toggle('Ignore SSL Issues (Insecure)', 'ignoreSslIssues', {
			description: 'Whether to connect even if the certificate of the service is not trusted',
		}),
		text('Access Token', 'accessToken', {
			type: 'hidden',
			typeOptions: { expirable: true, password: true },
		}),
	];

	preAuthentication = newToken;

	authenticate = withToken;

	test: ICredentialTestRequest = {
		request: {
			baseURL: '={{ $credentials.baseUrl.trim().replace(/\\/+$/, "") }}',
			...testRequest,
		},
		rules: [
			rule(
				404,
				"The login works, but there is no list of work clusters at this address. Check the 'Base URL': it is the part before /api/v1.",
			),
			rule(
				403,
				"The login works, but this user isn't allowed to list work clusters. Creating and changing jobs may still work.",
			),
		],
	};
}
