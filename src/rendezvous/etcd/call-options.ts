import { type CallOptions, InterceptingCall, setLogger } from "@grpc/grpc-js";
import { CODE } from "./status.js";
import type { OnEnd } from "./underway.js";

export type { CallOptions };

export interface CallObserver {
	/** Told of each message that is sent. */
	readonly onSent: () => void;
	/** Told of each message that comes in. */
	readonly onReceived: () => void;
	readonly onEnd: OnEnd;
}

/** At other codes etcd3 would drop its connections, and at some details ask again in a loop. */
const HARMLESS = { code: CODE.outOfRange, details: "" };

// What goes wrong is said by whoever made the call, and not by gRPC on stderr as well.
setLogger({ error: () => {}, info: console.error, debug: console.error });

/**
 * What goes with a call, and what is learnt of it. etcd3 reacts to failures as it
 * thinks right: so it gets to see only that there was one.
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
						// A member without a leader says so, instead of being mute.
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
