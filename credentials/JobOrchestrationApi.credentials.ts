import type { ICredentialTestRequest, ICredentialType, INodeProperties } from 'n8n-workflow';

import { text, toggle } from '../nodes/JobOrchestration/fields/form';
import { newToken } from '../nodes/JobOrchestration/service/session/credential';
import { testRequest, withToken } from '../nodes/JobOrchestration/service/session/otherNodes';

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
	};
}
