import { chmodSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { CLI } from "../helpers/cli.js";
import { needEtcd } from "../helpers/etcd.js";
import { freePort } from "../helpers/free-port.js";
import { job, openSite } from "../helpers/launch.js";
import { releaseWorkers, sawLives } from "../helpers/lives.js";
import { waitFor } from "../helpers/processes.js";

/** The script that guides to torchrun under Slurm show, with elastic-run in the place of torchrun. */
const script = (port: number) => `#!/bin/bash
#SBATCH --nodes=2
#SBATCH --ntasks-per-node=1
nodes=( $( scontrol show hostnames $SLURM_JOB_NODELIST ) )
nodes_array=($nodes)
head_node=\${nodes_array[0]}
head_node_ip=$(srun --nodes=1 --ntasks=1 -w "$head_node" hostname --ip-address)

srun elastic-run \\
--nnodes $SLURM_NNODES \\
--nproc_per_node 1 \\
--rdzv_id $SLURM_JOB_ID \\
--rdzv_backend c10d \\
--rdzv_conf timeout=900,close_timeout=30,read_timeout=120 \\
--rdzv_endpoint $head_node_ip:${port} \\
"$SCRIPT"
`;

/** Two machines, 127.0.0.2 and .3: a step on one of them, or on both. */
const SRUN = `#!/bin/bash
if [ "$1" = --nodes=1 ]; then echo 127.0.0.2; exit; fi
for n in 2 3; do
	ELASTIC_RUN_NODE_ID=node-$n ELASTIC_RUN_LOCAL_ADDR=127.0.0.$n ELASTIC_RUN_LOG_DIR=$JOB_LOGS/$n \\
		SLURM_STEP_ID=0 SLURM_NODEID=$((n - 2)) "$@" &
	pids+=($!)
done
code=0
for pid in "\${pids[@]}"; do wait "$pid" || code=$?; done
exit $code
`;

it("the usual batch script of Slurm runs with elastic-run in the place of torchrun", async () => {
	needEtcd();
	const site = openSite();
	const bin = join(site.path, "bin");
	mkdirSync(bin);
	onTestFinished(() => releaseWorkers(site));
	const programs = {
		srun: SRUN,
		scontrol: "#!/bin/bash\nprintf 'node-2\\nnode-3\\n'\n",
		"elastic-run": `#!/bin/bash\nexec ${process.execPath} ${CLI} "$@"\n`,
		"job.sbatch": script(await freePort()),
	};
	for (const [name, text] of Object.entries(programs)) {
		writeFileSync(join(bin, name), text);
		chmodSync(join(bin, name), 0o755);
	}
	const { ended } = site.start(join(bin, "job.sbatch"), [], {
		env: {
			PATH: `${bin}:${process.env.PATH}`,
			SCRIPT: job("beats.js"),
			SLURM_JOB_ID: `4711${process.pid}`,
			SLURM_NNODES: "2",
			SLURM_JOB_NODELIST: "node-[2-3]",
		},
	});
	const found = await sawLives(site, 2, { round: 1 });
	expect(found.map(({ nodeId }) => nodeId).sort()).toEqual([
		"node-2",
		"node-3",
	]);
	releaseWorkers(site);
	const { exitCode, stderr } = await ended;
	expect(exitCode, stderr).toBe(0);
	const warnings = stderr.match(/warning: .*/g) ?? [];
	const ignored =
		"warning: --rdzv_conf: close_timeout, read_timeout have no meaning here and are ignored";
	expect(warnings.filter((line) => line.includes("meaning"))).toEqual([
		ignored,
		ignored,
	]);
	const data = join(site.channels, `elastic-run-meeting-${process.getuid?.()}`);
	await waitFor("the etcd's end", () => readdirSync(data).length === 0);
});
