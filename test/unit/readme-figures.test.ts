import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { OPTIONS } from "../../src/config/options.js";
import { completeRendezvous } from "../../src/config/time-outs.js";
import { judgeStore } from "../../src/operate/doctor/judge-store.js";
import { judgeNode } from "../../src/operate/doctor/judge-tools.js";

const readme = readFileSync("README.md", "utf8").replaceAll(/\s+/g, " ");
const { lastCallTimeoutMs, leaseTtlMs } = completeRendezvous(
	{},
	{ shutdownTimeoutMs: 30_000, maxNodes: 2 },
);
const manifest = JSON.parse(readFileSync("package.json", "utf8"));
const demo = readFileSync("examples/demo.js", "utf8");

it.each([
	`up to \`--max-restarts\` (${OPTIONS.maxRestarts.defaultText}) times`,
	`wait ${lastCallTimeoutMs / 1_000} s for more (\`--rdzv-conf last_call_timeout\`)`,
	`notice a killed machine after ${leaseTtlMs / 1_000} s (\`--rdzv-conf lease_ttl\`)`,
	`Node.js ${manifest.engines.node.replace(">=", "")} or newer`,
	`elastic-run-${manifest.version}.tgz`,
])("README says what is so: %s", (words) => {
	expect(readme).toContain(words);
});

it("README names the oldest Node.js and the oldest etcd that are accepted", () => {
	const [, node = ""] = /Node\.js ([\d.]+) or newer/.exec(readme) ?? [];
	const [, etcd = ""] = /etcd \(([\d.]+) or newer\)/.exec(readme) ?? [];
	const older = (version: string) =>
		version.replace(/\d+$/, (last) => `${Number(last) - 1}`);
	const storeOf = (version: string) =>
		judgeStore({
			endpoints: ["h:1"],
			unreadable: undefined,
			unwritable: undefined,
			version: `${version}.0`,
			readsMs: [1],
			prefix: "",
		});
	expect(judgeNode(`${node}.0`).status).toBe("ok");
	expect(judgeNode(`${older(node)}.0`).status).not.toBe("ok");
	expect(storeOf(etcd).status).toBe("ok");
	expect(storeOf(older(etcd)).status).not.toBe("ok");
});

it("README says when the demo exits with 0", () => {
	expect(demo).toContain("LEAST_ACCURACY = 0.9;");
	expect(demo).toContain("LARGEST_DIFFERENCE = 0.005;");
	expect(readme).toContain("nine of ten digits");
	expect(readme).toContain("give or take half a percent");
});
