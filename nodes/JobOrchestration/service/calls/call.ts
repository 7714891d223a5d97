import type { Explanation } from '../messages/message';
import type { ServiceRequest } from '../http';

/** What to say where a call fails, apart from what is the same for every call. */
export interface CallMessages {
	/** What it is about, for the end of a description: "Job 'x' in namespace 'y'". */
	subject: string;
	/** Explains a 404. */
	notFound: Explanation;
	/** Explains a 409; without it, a 409 is a refusal like any other. */
	conflict?: Explanation;
}

/** A call of the service: what is sent, what is to come back, and what to say where it fails. */
export type Call<Body> = {
	request: ServiceRequest<Body>;
	/** What the call does, as in "The service refused to ...". */
	action: string;
} & (
	| {
			/** Whether sending it twice does the same as sending it once, so that it may be sent again. */
			idempotent: true;
			messages: CallMessages;
	  }
	| {
			idempotent: false;
			messages: CallMessages & {
				/** Says that the call may have worked nevertheless. Its message is put behind the title: "...; the job may exist". */
				uncertain: Explanation;
			};
	  }
);
