import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { platformGrace } from "../../../src/config/platform-grace.js";
import { temporaryFolder } from "../../helpers/processes.js";

const POD = { KUBERNETES_SERVICE_HOST: "10.0.0.1" };

test.each<[Readonly<Record<string, string>>, number | undefined, string?]>([
	[{}, undefined],
	[{ RUNPOD_POD_ID: "x7" }, 5_000, "RunPod gives 5s"],
	[{ VAST_CONTAINERLABEL: "C.1" }, 0, "Vast.ai gives 0"],
	[POD, 10_000, "give it, less 5 s, as --termination-grace"],
	[{ SLURM_JOB_ID: "7", SLURM_CONF: "/nowhere" }, undefined],
])("P2 in %j the platform gives %s ms", async (environment, graceMs, words = "") => {
	const found = await platformGrace(environment, false);
	expect(found?.graceMs).toBe(graceMs);
	expect(found?.words ?? "").toContain(words);
});

test("P2 Slurm gives its KillWait", async () => {
	const { path, remove } = temporaryFolder();
	onTestFinished(remove);
	const settings = join(path, "slurm.conf");
	writeFileSync(settings, "SlurmctldHost=head\n#KillWait=9\nkillwait = 45\n");
	const environment = { SLURM_JOB_ID: "7", SLURM_CONF: settings };
	expect((await platformGrace(environment, false))?.graceMs).toBe(45_000);
});

test("P2 a user's own shutdown time-out is not cut, but where it cannot hold", async () => {
	expect(await platformGrace(POD, true)).toBeUndefined();
	const preset = await platformGrace({ RUNPOD_POD_ID: "x7" }, true);
	expect(preset?.graceMs).toBe(5_000);
});
