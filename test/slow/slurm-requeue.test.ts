import {
	chmodSync,
	existsSync,
	mkdirSync,
	readFileSync,
	writeFileSync,
} from "node:fs";
import { delimiter, join } from "node:path";
import { expect, it } from "vitest";
import { CLI } from "../helpers/cli.js";
import { etcdForAll } from "../helpers/etcd.js";
import { ROOT } from "../helpers/import-graph.js";
import { openSite } from "../helpers/launch.js";

const etcd = etcdForAll();

/**
 * Runs a step as Slurm does: once the workers run, the time limit is near, and the step's process gets SIGCONT and SIGTERM,
 * then SIGKILL. A step that ends before needs no signal.
 */
const SRUN = `#!/bin/bash
while [[ $1 == --* ]]; do shift; done
"$@" &
step=$!
{
	until [ -e "$READY" ]; do sleep 0.05; done
	kill -CONT $step; kill -TERM $step
	for ((i = 0; i < 1200; i++)); do sleep 0.05; kill -0 $step || exit; done
	kill -KILL $step
} 2> /dev/null &
watcher=$!
code=0
wait $step || code=$?
kill $watcher 2> /dev/null
exit $code
`;

/** Saves when it is told to end; the next one begins where that ended. */
const TRAIN = `
import os, signal, sys, time
def save(*_):
    open("saved", "w").close()
    sys.exit(143)
if os.path.exists("saved"):
    sys.exit(0)
signal.signal(signal.SIGTERM, save)
open(os.environ["READY"], "w").close()
while True:
    time.sleep(0.1)
`;

it("P14 slurm-requeue.sbatch: at the time limit the workers save, the job is queued again, and goes on", async () => {
	const site = openSite();
	const bin = join(site.path, "bin");
	mkdirSync(bin);
	const programs = {
		srun: SRUN,
		scontrol: '#!/bin/sh\necho "$@" > requeued\n',
		"elastic-run": `#!/bin/sh\nexec ${process.execPath} ${CLI} "$@"\n`,
	};
	for (const [name, text] of Object.entries(programs)) {
		writeFileSync(join(bin, name), text);
		chmodSync(join(bin, name), 0o755);
	}
	writeFileSync(join(site.path, "train.py"), TRAIN);
	const recipe = join(bin, "job.sbatch");
	const text = readFileSync(
		join(ROOT, "examples/deploy/slurm-requeue.sbatch"),
		"utf8",
	);
	// Python takes no notice, so it works on for as long as it may.
	const grace = text.replace(
		"--termination-grace 110",
		"--termination-grace 2",
	);
	writeFileSync(recipe, grace);
	const submit = (restarts: number) =>
		site.start("bash", [recipe], {
			env: {
				PATH: `${bin}${delimiter}${process.env.PATH}`,
				READY: join(site.path, `ready-${restarts}`),
				CUDA_VISIBLE_DEVICES: "0",
				SLURM_JOB_ID: "4711",
				SLURM_JOB_NUM_NODES: "1",
				SLURM_SUBMIT_DIR: site.path,
				SLURM_JOB_END_TIME: String(Math.round(Date.now() / 1_000) + 3_600),
				ELASTIC_RUN_RDZV_ENDPOINT: etcd().endpoint,
				...(restarts > 0 && { SLURM_RESTART_COUNT: String(restarts) }),
			},
		}).ended;
	const first = await submit(0);
	expect(first.exitCode).toBe(143);
	expect(first.stderr).toContain("Slurm job 4711 ends at ");
	expect(first.stderr).toContain("SIGTERM: the job step ends");
	expect(existsSync(join(site.path, "saved"))).toBe(true);
	expect(existsSync(join(site.path, "requeued"))).toBe(true);
	const second = await submit(1);
	expect(second.exitCode).toBe(0);
	expect(second.stderr).toContain("Slurm job 4711 (restart 1 of the job) ends");
});
