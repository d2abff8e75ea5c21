import { createServer, type Server } from "node:net";

/**
 * Finds a port for MASTER_PORT and keeps it bound until the workers start, so
 * that nobody else on this node is given it meanwhile. A new claim frees the
 * port of the one before.
 */
export class PortReservation {
	private server: Server | undefined;

	/** @param address the local address that workers will bind; any free port of it will do */
	constructor(private readonly address: string) {}

	async reserve(): Promise<number> {
		this.release();
		const server = await listen(this.address).catch(() => listen(undefined));
		this.server = server;
		const bound = server.address();
		return typeof bound === "object" && bound !== null ? bound.port : 0;
	}

	release(): void {
		this.server?.close();
		this.server = undefined;
	}
}

/** An address that is reachable from outside need not be one that this host can bind (NAT): then any. */
export function listen(host: string | undefined): Promise<Server> {
	return new Promise((resolve, reject) => {
		const server = createServer();
		server.unref();
		server.once("error", reject);
		server.listen({ port: 0, ...(host === undefined ? {} : { host }) }, () =>
			resolve(server),
		);
	});
}
