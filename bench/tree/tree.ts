// The first node's end of the links of a large round, or the other ends of all of them, speakers and those behind them.
// Usage: tree.mjs head|bare, tree.mjs members COUNT PORT [SECRET]
import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";
import { systemClock } from "../../src/base/clock.js";
import { Caller } from "../../src/links/caller.js";
import type { Connection } from "../../src/links/connection.js";
import { frame } from "../../src/links/frames.js";
import { Links } from "../../src/links/links.js";
import { decode, LINK_MESSAGE } from "../../src/links/messages.js";
import type { LinkedAgent } from "../../src/model/index.js";

const HOST = "127.0.0.1";
const PLAN = "plan-1";
const HEAD = { nodeId: "head", incarnation: "aa" };
/** So many agents have one speaker, itself among them. */
const GROUP = 32;
/** A lease's time to live. */
const DECIDED_MS = 5_000;
const NONCE = "00".repeat(16);
const QUIET = { debug() {}, info() {}, warn() {} };
const ANSWER = { kind: "away", plan: PLAN, poll: 1, isMember: true } as const;
const asked = (poll: number) => ({ kind: "poll", plan: PLAN, poll }) as const;

/** What the bench asks a head for. */
interface Tree {
	readonly port: number;
	readonly secret?: string;
	/** How many members are linked. */
	linked(): number;
	/** Resolves when all of them have answered. */
	askAll(): Promise<void>;
}

async function head(): Promise<Tree> {
	let left = 0;
	let done = () => {};
	let poll = 0;
	const links = await Links.open({
		...{ clock: systemClock, random: Math.random, log: QUIET, port: 0 },
		...{ decidedMs: DECIDED_MS, onDead: () => {} },
	});
	const { port, secret } = links.addressAt(HOST);
	const { exchange } = links;
	const self = { ...HEAD, link: links.addressAt(HOST) };
	links.follow(self, { planId: PLAN, head: self }, null);
	exchange.listen(() => {
		left -= 1;
		if (left === 0) done();
	});
	return {
		...{ port, secret },
		linked: () => exchange.known.size,
		askAll: () =>
			new Promise((resolve) => {
				const { known } = exchange;
				left = known.size;
				done = resolve;
				poll += 1;
				for (const one of known) exchange.tell(one, asked(poll));
			}),
	};
}

/** As many connections, which carry as much. */
async function bare(): Promise<Tree> {
	const sockets = new Set<Socket>();
	let left = 0;
	let done = () => {};
	const server = createServer((socket) => {
		socket.setNoDelay(true);
		sockets.add(socket);
		socket.on("data", () => {
			left -= 1;
			if (left === 0) done();
		});
	});
	await new Promise<void>((resolve) => server.listen(0, HOST, resolve));
	const address = server.address();
	return {
		port: typeof address === "object" ? (address?.port ?? 0) : 0,
		linked: () => sockets.size,
		askAll: () =>
			new Promise((resolve) => {
				left = sockets.size;
				done = resolve;
				const words = frame({ kind: "ride", ride: asked(1) });
				for (const socket of sockets) socket.write(words);
			}),
	};
}

/** An agent that has called the head, and speaks for others, which are not there. */
function speaker(
	first: number,
	count: number,
	port: number,
	secret: string,
): void {
	const [self, ...others] = Array.from({ length: count }, (_, index) =>
		agent(first + index),
	);
	if (self === undefined) return;
	const head = HEAD.incarnation;
	const onOpen = (_: LinkedAgent, connection: Connection) => {
		connection.read((said) => {
			const { kind, agent, passed, ride } = decode(LINK_MESSAGE, said);
			const answer = { kind: "ride", ride: ANSWER } as const;
			if (kind === "ping") connection.send({ kind: "ping" });
			else if (ride) connection.send(answer);
			else if (passed?.ride) {
				connection.send({ kind: "passed", agent, head, passed: answer });
			}
		});
		for (const opened of others) {
			const passed = { kind: "opened", opened, nonce: NONCE } as const;
			const { incarnation } = opened;
			connection.send({ kind: "passed", agent: incarnation, head, passed });
		}
	};
	const caller = new Caller({
		...{ clock: systemClock, random: Math.random, purpose: "agent", onOpen },
		self: () => self,
		onClosed: () => {},
		onFailed: () => {},
	});
	caller.want({ ...HEAD, link: { address: HOST, port, secret } });
}

function agent(index: number): LinkedAgent {
	const incarnation = index.toString(16).padStart(8, "0");
	return { nodeId: `node-${index}`, incarnation };
}

/** One after the other: it does not call again, as a real one does, where the queue of the server is full. */
async function bareMember(port: number): Promise<void> {
	const socket = connect({ host: HOST, port });
	socket.setNoDelay(true);
	const words = frame({ kind: "ride", ride: ANSWER });
	socket.on("data", () => socket.write(words));
	await once(socket, "connect");
}

const [role = "", count = "0", port = "0", secret] = process.argv.slice(2);
if (role === "members") {
	const many = Number(count);
	for (let index = 0; index < many; index += secret ? GROUP : 1) {
		if (secret === undefined) await bareMember(Number(port));
		else speaker(index, Math.min(GROUP, many - index), Number(port), secret);
	}
} else {
	const tree = await (role === "head" ? head() : bare());
	const tell = (value: unknown) => process.send?.(value);
	const told = () => ({
		linked: tree.linked(),
		rssMb: process.memoryUsage.rss() / 1e6,
		processorMs: processorMs(),
	});
	process.on("message", async (what) => {
		if (what === "ask") await tree.askAll();
		tell(told());
	});
	tell({ port: tree.port, secret: tree.secret });
}

function processorMs(): number {
	const { user, system } = process.cpuUsage();
	return (user + system) / 1_000;
}
