import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";
import { freePort } from "./free-port.js";

/** Who a member's request to another one comes from; etcd's other questions have no such line. */
const SENDER = /^X-Server-From: ([0-9a-f]+)\r$/im;

/** The way of its peers to a member of an etcd, which can be barred for some of them. */
export class PeerGate {
	private readonly server = createServer((client) => this.accept(client));
	/** By whom they were opened. */
	private readonly clients = new Map<Socket, string>();
	private isBarred: (sender: string) => boolean = () => false;

	private constructor(
		/** Where it listens. */
		readonly port: number,
		private readonly target: number,
	) {}

	/** On a free port of 127.0.0.1; the member's own is the target. */
	static async open(target: number): Promise<PeerGate> {
		const gate = new PeerGate(await freePort(), target);
		gate.server.listen(gate.port, "127.0.0.1");
		await once(gate.server, "listening");
		return gate;
	}

	/**
	 * Ends the connections of these senders, and each that they open from now on.
	 *
	 * @param isBarred told a member's id in hexadecimals
	 */
	bar(isBarred: (sender: string) => boolean): void {
		this.isBarred = isBarred;
		for (const [client, sender] of this.clients) {
			if (isBarred(sender)) client.destroy();
		}
	}

	close(): void {
		this.server.close();
		for (const client of this.clients.keys()) client.destroy();
	}

	private accept(client: Socket): void {
		client.on("error", () => {});
		// A connection is one member's: its first words tell whose.
		client.once("data", (first) => {
			const sender = SENDER.exec(first.toString("latin1"))?.[1] ?? "";
			if (this.isBarred(sender)) client.destroy();
			else this.pass(client, sender, first);
		});
	}

	private pass(client: Socket, sender: string, first: Buffer): void {
		const onward = connect(this.target, "127.0.0.1");
		this.clients.set(client, sender);
		onward.on("error", () => {});
		onward.once("close", () => client.destroy());
		client.once("close", () => {
			onward.destroy();
			this.clients.delete(client);
		});
		onward.write(first);
		client.pipe(onward).pipe(client);
	}
}
