import { once } from "node:events";
import { connect, createServer, type Server, type Socket } from "node:net";
import { freePort } from "./free-port.js";
import { onTestFinished } from "./this-test.js";

type Direction = "to-server" | "to-client";

/** A TCP connection's way through which a test can make a network go wrong. */
export interface TcpProxy {
	/** "127.0.0.1:PORT", with the target's "https://" */
	readonly endpoint: string;
	/** Clients' connections that are open now, also where nothing comes through. */
	readonly connections: number;
	/** All that were ever accepted. */
	readonly accepted: number;
	/** Nothing comes through either way; connections stay, new ones are accepted and are as mute. */
	stall(): void;
	/** The connections that are open now are mute, new ones work. */
	stallOld(): void;
	/** Only what goes this way comes through, on old and new connections. */
	oneWay(direction: Direction): void;
	/** What goes through from now on takes so long each way, in milliseconds. */
	delay(eachWayMs: number): void;
	/** Resets all connections, and refuses new ones. */
	cut(): void;
	/** Resets all connections, and accepts new ones. */
	reset(): void;
	/** Everything comes through again, what was held first; after `cut`, resolves when it listens. */
	resume(): Promise<void>;
	close(): void;
}

/**
 * Listens on a port of its own and passes everything on; it ends with the test.
 *
 * @param target "host:port" or "https://host:port": TLS goes through as it is
 */
export async function startProxy(target: string): Promise<TcpProxy> {
	const proxy = await openProxy(target);
	onTestFinished(() => proxy.close());
	return proxy;
}

/** As `startProxy`, for who closes it. */
export async function openProxy(target: string): Promise<TcpProxy> {
	const proxy = new Relay(target, await freePort());
	await proxy.resume();
	return proxy;
}

class Relay implements TcpProxy {
	private readonly way = { delayMs: 0 };
	accepted = 0;
	private readonly scheme: string;
	private readonly target: URL;
	private readonly port: number;
	private readonly pairs = new Set<Pair>();
	/** Which ways a new connection goes. */
	private ways: readonly Direction[] = BOTH;
	private server: Server | undefined;

	constructor(target: string, port: number) {
		this.scheme = /^https?:\/\//.exec(target)?.[0] ?? "";
		this.target = new URL(`tcp://${target.slice(this.scheme.length)}`);
		this.port = port;
	}

	get endpoint(): string {
		return `${this.scheme}127.0.0.1:${this.port}`;
	}

	get connections(): number {
		return [...this.pairs].filter(({ isOpen }) => isOpen).length;
	}

	stall(): void {
		this.goOn([]);
	}

	stallOld(): void {
		for (const pair of this.pairs) pair.goOn([]);
	}

	oneWay(direction: Direction): void {
		this.goOn([direction]);
	}

	delay(eachWayMs: number): void {
		this.way.delayMs = eachWayMs;
	}

	cut(): void {
		this.server?.close();
		this.server = undefined;
		this.reset();
	}

	reset(): void {
		for (const pair of this.pairs) pair.reset();
	}

	async resume(): Promise<void> {
		this.goOn(BOTH);
		if (this.server !== undefined) return;
		const options = { allowHalfOpen: true, pauseOnConnect: true };
		const server = createServer(options, (client) => this.accept(client));
		this.server = server.listen(this.port, "127.0.0.1");
		await once(server, "listening");
	}

	close(): void {
		this.cut();
	}

	private goOn(ways: readonly Direction[]): void {
		this.ways = ways;
		for (const pair of this.pairs) pair.goOn(ways);
	}

	private accept(client: Socket): void {
		this.accepted++;
		const server = connect({
			host: this.target.hostname,
			port: Number(this.target.port),
			allowHalfOpen: true,
		});
		server.pause();
		const pair = new Pair(client, server, this.way);
		this.pairs.add(pair);
		for (const socket of [client, server]) {
			socket.once("close", () => {
				if (client.closed && server.closed) this.pairs.delete(pair);
			});
		}
		pair.goOn(this.ways);
	}
}

/** How long each chunk is on its way. */
interface Way {
	readonly delayMs: number;
}

const BOTH: readonly Direction[] = ["to-server", "to-client"];

/** One client's connection and its continuation to the server. */
class Pair {
	private readonly flows: Readonly<Record<Direction, Flow>>;

	constructor(
		private readonly client: Socket,
		private readonly server: Socket,
		way: Way,
	) {
		this.flows = {
			"to-server": new Flow(client, server, way),
			"to-client": new Flow(server, client, way),
		};
	}

	get isOpen(): boolean {
		return !this.client.destroyed;
	}

	goOn(ways: readonly Direction[]): void {
		for (const way of BOTH) this.flows[way].goOn(ways.includes(way));
	}

	reset(): void {
		this.client.resetAndDestroy();
		this.server.resetAndDestroy();
	}
}

/** One direction. While it stands still, its end and its breaking are held back as its bytes are. */
class Flow {
	private flows = false;
	private end: "closed" | "broken" | undefined;

	constructor(
		private readonly source: Socket,
		private readonly sink: Socket,
		private readonly way: Way,
	) {
		source.on("data", (chunk) => {
			this.later(() => {
				if (!sink.write(chunk)) source.pause();
			});
		});
		source.pause();
		// Also told of a source that is paused, where nothing is before it.
		source.on("end", () => this.later(() => this.ends("closed")));
		source.on("error", () => this.later(() => this.ends("broken")));
		sink.on("drain", () => {
			if (this.flows) source.resume();
		});
	}

	goOn(flows: boolean): void {
		this.flows = flows;
		if (flows) this.source.resume();
		else this.source.pause();
		this.passEndOn();
	}

	private later(work: () => void): void {
		const { delayMs } = this.way;
		if (delayMs === 0) work();
		else setTimeout(work, delayMs);
	}

	private ends(how: "closed" | "broken"): void {
		this.end = how;
		this.passEndOn();
	}

	private passEndOn(): void {
		if (!this.flows) return;
		if (this.end === "broken") this.sink.resetAndDestroy();
		if (this.end === "closed" && !this.sink.writableEnded) this.sink.end();
	}
}
