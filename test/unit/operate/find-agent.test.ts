import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import {
	encodeIdentity,
	ownIdentity,
	type ProcessIdentity,
} from "../../../src/channel/process-identity.js";
import { systemHost } from "../../../src/config/host.js";
import { writeLinksFile } from "../../../src/node-files/links-file.js";
import {
	leaveSignalOf,
	type NodeFile,
	writeNodeFile,
} from "../../../src/node-files/node-file.js";
import {
	findKnownAgents,
	findLinks,
	isProven,
} from "../../../src/operate/find-agent.js";
import { temporaryFolder } from "../../helpers/processes.js";
import { VirtualClock } from "../../helpers/virtual-clock.js";

const UID = process.getuid?.() ?? 0;
const SELF = ownIdentity();

describe("a process is proven to be the one that is named", () => {
	it.each<[string, Partial<ProcessIdentity>, boolean]>([
		["by pid and start time", {}, true],
		["not where the pid is another's by now", { startTime: "1" }, false],
		["not where there is none", { pid: 2 ** 22 + 1 }, false],
		["not across a start of the machine", { bootId: "other" }, false],
		["not where boots have no names", { bootId: "" }, false],
		["not in another pid namespace", { pidNamespace: "pid:[1]" }, false],
	])("%s", (_, change, proven) => {
		expect(isProven({ ...SELF, ...change })).toBe(proven);
	});

	it("not where the observer has no names for boots and namespaces", () => {
		const nameless = { ...SELF, bootId: "", pidNamespace: "" };
		expect(isProven(nameless, nameless)).toBe(false);
	});
});

it.each([
	[["SIGTERM", "SIGINT"], "SIGTERM", "SIGINT"],
	[["SIGUSR1", "SIGQUIT", "SIGINT"], "SIGINT", "SIGINT"],
	[["SIGUSR1"], null, null],
	[[], null, null],
] as const)("of the signals %j an agent is told to leave by %s, or by %s where SIGTERM is a notice", (handled, signal, other) => {
	expect(leaveSignalOf(handled, false)).toBe(signal);
	expect(leaveSignalOf(handled, true)).toBe(other);
});

describe("the agents of this machine", () => {
	let folder: ReturnType<typeof temporaryFolder>;
	beforeEach(() => {
		folder = temporaryFolder();
	});
	afterEach(() => folder.remove());

	function agent(name: string, node: Partial<NodeFile> | undefined): void {
		const directory = join(folder.path, `elastic-run-${UID}`, name);
		mkdirSync(directory, { recursive: true });
		writeFileSync(join(directory, "agent.json"), encodeIdentity(SELF));
		if (node === undefined) return;
		writeNodeFile(directory, {
			...{ runId: "r", nodeId: "a", instance: 1, logDirectory: "/logs" },
			...{ leaveSignal: "SIGTERM", shutdownTimeoutMs: 1 },
			...node,
		});
	}

	function searcher() {
		const host = {
			...systemHost({ ELASTIC_RUN_DIR: folder.path }),
			temporaryDirectory: folder.path,
		};
		return { host, uid: UID, clock: new VirtualClock() };
	}

	it("tell what they know by their links, if they have any", () => {
		for (const name of ["a", "b", "c"]) agent(`r.${name}`, { nodeId: name });
		const at = (name: string) => join(folder.path, `elastic-run-${UID}`, name);
		const links = {
			heard: ["c"],
			suspected: [{ nodeId: "d", why: "closed" as const }],
			riding: { since: 1_000, nodes: 3, heard: 2 },
		};
		writeLinksFile(at("r.b"), links);
		writeFileSync(join(at("r.c"), "links.json"), '{"version":1,"heard":7}');
		expect(findLinks("r", searcher())).toMatchObject([
			{ nodeId: "b", ...links },
		]);
		expect(findLinks("s", searcher())).toEqual([]);
	});

	it.each<[string | undefined, string | undefined, readonly string[]]>([
		[undefined, undefined, ["r/a", "r/b", "s/a"]],
		["r", undefined, ["r/a", "r/b"]],
		["r", "b", ["r/b"]],
		["s", "b", []],
	])("of run %s, node %s", (runId, nodeId, expected) => {
		agent("r.a", {});
		agent("r.b", { nodeId: "b" });
		agent("s.a", { runId: "s" });
		agent("starts", undefined);
		agent("torn", {});
		const torn = join(folder.path, `elastic-run-${UID}`, "torn", "node.json");
		writeFileSync(torn, '{"version":1,"runId":7}');
		const found = findKnownAgents({ runId, nodeId }, searcher())
			.filter(({ directory }) => directory.startsWith(folder.path))
			.map(({ node }) => `${node.runId}/${node.nodeId}`);
		expect(found).toEqual(expected);
	});
});
