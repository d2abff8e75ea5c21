import { Duplex } from "node:stream";
import { connect } from "node:tls";

/** Files' contents, in PEM. */
export interface Tls {
	/** Whom to trust; the system's authorities where it is absent. */
	readonly ca?: Buffer;
	readonly cert?: Buffer;
	readonly key?: Buffer;
}

let isForgone = false;

/**
 * gRPC names the server in TLS also where its name is an address, at which Node
 * prints a warning (DEP0123), once in a process: this spends it unprinted.
 */
export function forgoServerNameWarning(): void {
	if (isForgone) return;
	isForgone = true;
	const before = process.noDeprecation ?? false;
	process.noDeprecation = true;
	const nowhere = new Duplex({ read() {}, write() {} });
	connect({ socket: nowhere, servername: "127.0.0.1" })
		.on("error", () => {})
		.destroy();
	process.noDeprecation = before;
}
