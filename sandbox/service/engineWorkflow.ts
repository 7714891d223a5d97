import type { Cluster, NewJob, Parameter } from '../messages';

const workspaceVolume = { name: 'workspace', mountPath: '/workspace' } as const;

/**
 * The workflow that the engine beneath would be given for a job: one template, which takes the job's
 * inputs, runs a container and leaves the job's outputs in files.
 */
export function engineWorkflowFor(
	jobName: string,
	job: NewJob & { priority: number; workspace: string },
	cluster: Cluster,
): object {
	const inputs = (job.inputs ?? []).map((input, index) => ({
		name: idOf(input, 'in', index),
		value: input.default ?? '',
	}));
	const outputs = (job.outputs ?? []).map((output, index) => {
		const name = idOf(output, 'out', index);
		return { name, valueFrom: { path: `${workspaceVolume.mountPath}/outputs/${name}` } };
	});
	return {
		name: jobName,
		spec: {
			entrypoint: 'main',
			serviceAccountName: 'job-runner',
			priority: job.priority,
			arguments: { parameters: inputs },
			nodeSelector: cluster.selector ?? {},
			volumes: [
				{ name: workspaceVolume.name, persistentVolumeClaim: { claimName: job.workspace } },
			],
			templates: [
				{
					name: 'main',
					arguments: {},
					inputs: { parameters: inputs },
					outputs: { parameters: outputs },
					metadata: { annotations: { workflow: job.workflow.uid } },
					container: {
						name: 'main',
						image: `registry.test/workflows/${job.workflow.uid}:latest`,
						command: ['run-workflow', job.workflow.uid],
						resources: {},
						volumeMounts: [workspaceVolume],
						imagePullPolicy: 'IfNotPresent',
					},
				},
			],
		},
	};
}

function idOf(parameter: Parameter, kind: 'in' | 'out', index: number): string {
	return parameter.id ?? `${kind}-${index + 1}`;
}
