import type { Cluster, NewJob, Parameter } from '../messages';

/**
 * The workflow that the engine beneath would be given for a job: one template, which takes the job's
 * inputs, runs a container and leaves the job's outputs in files.
 */
export function engineWorkflowFor(
	name: string,
	{ inputs = [], outputs = [], workflow, priority, workspace }: NewJob,
	{ selector: nodeSelector = {} }: Cluster,
): object {
	const idOf = ({ id }: Parameter, kind: 'in' | 'out', index: number) =>
		id ?? `${kind}-${index + 1}`;
	const parameters = inputs.map((input, index) => ({
		name: idOf(input, 'in', index),
		value: input.default ?? '',
	}));
	const files = outputs.map((output, index) => {
		const id = idOf(output, 'out', index);
		return { name: id, valueFrom: { path: `/workspace/outputs/${id}` } };
	});
	const container = {
		name: 'main',
		image: `registry.test/workflows/${workflow.uid}:latest`,
		command: ['run-workflow', workflow.uid],
		resources: {},
		volumeMounts: [{ name: 'workspace', mountPath: '/workspace' }],
		imagePullPolicy: 'IfNotPresent',
	};
	const template = {
		name: 'main',
		arguments: {},
		inputs: { parameters },
		outputs: { parameters: files },
		metadata: { annotations: { workflow: workflow.uid } },
		container,
	};
	return {
		name,
		spec: {
			...{ entrypoint: 'main', serviceAccountName: 'job-runner', priority, nodeSelector },
			arguments: { parameters },
			volumes: [{ name: 'workspace', persistentVolumeClaim: { claimName: workspace } }],
			templates: [template],
		},
	};
}
