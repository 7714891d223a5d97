/* What the host, the tests and the benchmarks import from the sandbox. */
export { startSandbox, type Sandbox } from './start';
export type { SandboxOptions } from './options';
export type { LimitOptions } from './limits/limits';
export type { CalledOperation } from './http/calls';
export type { Fault, When } from './faults/fault';
export type { Plan, PlannedCall } from './faults/faultPlan';
export { transitions, type Job, type StoredJob, type Verb } from './service/jobs';
export { wrongWithAnswer } from './contract/checks';
export * from './messages';
