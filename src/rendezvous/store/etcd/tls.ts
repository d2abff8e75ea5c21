import { Duplex } from "node:stream";
import { connect } from "node:tls";

/** Contents of files, in PEM. */
export interface Tls {
	/** The trusted authorities; if absent, the system's. */
	readonly ca?: Buffer;
	readonly cert?: Buffer;
	readonly key?: Buffer;
}

let isForgone = false;

/**
 * gRPC sends the server's name in TLS even if it is an address. Node warns about that (DEP0123) once per process: this
 * uses up that warning without printing it.
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
