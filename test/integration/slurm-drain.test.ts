import { chmodSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { expect, it } from "vitest";
import { ROOT } from "../helpers/import-graph.js";
import { openSite } from "../helpers/launch.js";

/** What scontrol does, one answer a call: it fails, or says something else, before it says that the node is drained. */
const SCONTROL = `#!/bin/sh
echo "$@" >> asked
case $(wc -l < asked) in
1) exit 1 ;;
2) echo 'slurm_load_node error: Unable to contact slurm controller' ;;
3) ;;
4) printf '   State=MIXED ThreadsPerCore=2\\n   Reason=was State=DRAIN+ok [root@now]\\n' ;;
*) printf 'NodeName=n1\\n   State=MIXED+DRAIN ThreadsPerCore=2\\n' ;;
esac
`;

it("P14 slurm-drain.sh: whatever scontrol says, only a drained node is a notice", async () => {
	const site = openSite();
	const scontrol = join(site.path, "scontrol");
	writeFileSync(scontrol, SCONTROL);
	chmodSync(scontrol, 0o755);
	const script = join(ROOT, "examples/deploy/slurm-drain.sh");
	const { exitCode } = await site.start("sh", [script, "gone", "0.02"], {
		env: {
			PATH: `${site.path}${delimiter}${process.env.PATH}`,
			SLURMD_NODENAME: "n1",
		},
	}).ended;
	expect(exitCode).toBe(0);
	const asked = readFileSync(join(site.path, "asked"), "utf8");
	expect(asked).toBe("show node n1\n".repeat(5));
	expect(readFileSync(join(site.path, "gone"), "utf8")).toBe(
		"\nthe node is drained\n",
	);
	expect(existsSync(join(site.path, "gone.new"))).toBe(false);
});
