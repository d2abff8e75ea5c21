/** How a call of gRPC's ended. */
export interface Status {
	readonly code: number;
	readonly details: string;
}

/** gRPC's codes that mean something here. */
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

/** How the details begin where the time was over. */
export const NO_ANSWER = "no answer";

/** What a call to etcd rejects with. */
export class StatusError extends Error {
	constructor(readonly status: Status) {
		super(`${status.code} ${status.details}`);
	}
}
