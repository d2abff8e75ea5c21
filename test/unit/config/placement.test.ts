import { expect, test } from "vitest";
import { checkPlacement } from "../../../src/config/placement.js";
import { SettingReader } from "../../../src/config/settings.js";

const slurm = (tasks: number, nodes: number) => ({
	SLURM_STEP_NUM_TASKS: String(tasks),
	SLURM_STEP_NUM_NODES: String(nodes),
});
const openMpi = (size: number, localSize: number) => ({
	OMPI_COMM_WORLD_SIZE: String(size),
	OMPI_COMM_WORLD_LOCAL_SIZE: String(localSize),
});
const SRUN =
	"--nnodes: srun starts 4 launchers, several on a machine, for a run of 2 nodes; one launcher starts all workers of its machine: give srun --ntasks-per-node=1";

test.each<[Record<string, string>, number, string[]]>([
	[{}, 2, []],
	[{ SLURM_JOB_ID: "1", SLURM_NTASKS: "4", SLURM_NNODES: "2" }, 2, []],
	[slurm(2, 2), 2, []],
	[slurm(4, 4), 2, []],
	[slurm(4, 2), 2, [SRUN]],
	[slurm(4, 2), 4, []],
	[
		slurm(8, 1),
		1,
		[
			expect.stringMatching(
				/^warning: srun starts 8 launchers, .* a run of its own; .*--ntasks-per-node=1$/,
			),
		],
	],
	[openMpi(2, 1), 2, []],
	[openMpi(4, 2), 2, [expect.stringMatching(/mpirun --map-by ppr:1:node$/)]],
])("K11: %j with %i nodes: %j", (environment, maxNodes, expected) => {
	const said: string[] = [];
	const reader = new SettingReader(
		new Map([["nnodes", { text: "2", place: "--nnodes", origin: "flag" }]]),
		(words) => said.push(words),
		({ name }) => name,
	);
	checkPlacement(reader, environment, maxNodes, (words) =>
		said.push(`warning: ${words}`),
	);
	expect(said).toEqual(expected);
});
