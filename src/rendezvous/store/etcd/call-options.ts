import { type CallOptions, InterceptingCall, setLogger } from "@grpc/grpc-js";
import type { OnEnd } from "./pending-calls.js";
import { CODE } from "./status.js";

export type { CallOptions };

export interface CallObserver {
	/** Called for each message sent. */
	readonly onSent: () => void;
	/** Called for each message received. */
	readonly onReceived: () => void;
	readonly onEnd: OnEnd;
}

/** At other codes etcd3 would drop its connections, and at some details retry in a loop. */
const HARMLESS = { code: CODE.outOfRange, details: "" };

// The caller reports errors; gRPC need not print them on stderr as well.
setLogger({ error: () => {}, info: console.error, debug: console.error });

/**
 * The options of a call, and what can be learnt from it. etcd3 reacts to failures in its own way, so it only learns that
 * there was one.
 */
export function callOptions(
	token: string | undefined,
	{ onSent, onReceived, onEnd }: CallObserver,
): CallOptions {
	return {
		interceptors: [
			(options, nextCall) =>
				new InterceptingCall(nextCall(options), {
					start: (metadata, _listener, next) => {
						// A member without a leader then says so instead of not answering.
						metadata.set("hasleader", "true");
						if (token !== undefined) metadata.set("token", token);
						next(metadata, {
							onReceiveMessage: (message, pass) => {
								if (message !== null) onReceived();
								pass(message);
							},
							onReceiveStatus: (status, pass) => {
								onEnd(status);
								const isGood = status.code === CODE.ok;
								pass(isGood ? status : { ...status, ...HARMLESS });
							},
						});
					},
					sendMessage: (message, pass) => {
						onSent();
						pass(message);
					},
				}),
		],
	};
}
