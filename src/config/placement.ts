import { OPTIONS } from "./options.js";
import type { Environment, Report, SettingReader } from "./settings.js";

/** How launchers are placed by what started them. */
interface Placement {
	readonly starter: string;
	/** How many launchers there are. */
	readonly launchers: number;
	/** Whether some machine has more than one. */
	readonly isShared: boolean;
	/** The flag that gives each machine one. */
	readonly flag: string;
}

/** As Slurm's and Open MPI's variables tell it; undefined: neither has started this launcher. */
function placementOf(environment: Environment): Placement | undefined {
	const number = (name: string) => Number(environment[name] || Number.NaN);
	const tasks = number("SLURM_STEP_NUM_TASKS");
	if (!Number.isNaN(tasks)) {
		return {
			starter: "srun",
			launchers: tasks,
			isShared: tasks > number("SLURM_STEP_NUM_NODES"),
			flag: "--ntasks-per-node=1",
		};
	}
	const processes = number("OMPI_COMM_WORLD_SIZE");
	if (Number.isNaN(processes)) return undefined;
	return {
		starter: "mpirun",
		launchers: processes,
		isShared: number("OMPI_COMM_WORLD_LOCAL_SIZE") > 1,
		flag: "--map-by ppr:1:node",
	};
}

/**
 * Refuses more launchers on a machine than the run has nodes: two of one machine would make it up, and another machine
 * would stay idle. Where each launcher has a run of its own, it warns.
 */
export function checkPlacement(
	reader: SettingReader,
	environment: Environment,
	maxNodes: number,
	warn: Report,
): void {
	const placement = placementOf(environment);
	if (!placement?.isShared || placement.launchers <= maxNodes) return;
	const { starter, launchers, flag } = placement;
	const words = `${starter} starts ${launchers} launchers, several on a machine`;
	if (maxNodes === 1) {
		warn(
			`${words}, and each begins a run of its own; if one launcher is meant for each machine, give ${starter} ${flag}`,
		);
		return;
	}
	reader.refuse(
		OPTIONS.nnodes,
		`${words}, for a run of ${maxNodes} nodes; one launcher starts all workers of its machine: give ${starter} ${flag}`,
	);
}
