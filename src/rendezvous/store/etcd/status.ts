/** How a gRPC call ended. */
export interface Status {
	readonly code: number;
	readonly details: string;
}

/** The gRPC codes that matter here. */
export const CODE = {
	ok: 0,
	cancelled: 1,
	invalidArgument: 3,
	deadlineExceeded: 4,
	permissionDenied: 7,
	outOfRange: 11,
	unimplemented: 12,
	internal: 13,
	unavailable: 14,
	unauthenticated: 16,
} as const;

/** How the details begin after a time-out. */
export const NO_ANSWER = "no answer";

/** The rejection of a call to etcd. */
export class StatusError extends Error {
	constructor(readonly status: Status) {
		super(`${status.code} ${status.details}`);
	}
}
