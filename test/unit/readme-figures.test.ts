import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { OPTIONS } from "../../src/config/options.js";
import { completeRendezvous } from "../../src/config/resolve-store.js";
import { OLDEST_ETCD } from "../../src/operate/doctor/checks.js";

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
	`etcd (${OLDEST_ETCD.join(".")} or newer)`,
	`elastic-run-${manifest.version}.tgz`,
])("README says what is so: %s", (words) => {
	expect(readme).toContain(words);
});

it("README says when the demo exits with 0", () => {
	expect(demo).toContain("LEAST_ACCURACY = 0.9;");
	expect(demo).toContain("LARGEST_DIFFERENCE = 0.005;");
	expect(readme).toContain("nine of ten digits");
	expect(readme).toContain("give or take half a percent");
});
