import { type Finding, fine, problem, warning } from "./finding.js";

const OLDEST_NODE = [20, 19] as const;

export function judgeNode(version: string): Finding {
	const check = "Node.js";
	const [major = 0, minor = 0] = version.split(".").map(Number);
	const [oldestMajor, oldestMinor] = OLDEST_NODE;
	return major > oldestMajor || (major === oldestMajor && minor >= oldestMinor)
		? fine(check, version)
		: problem(
				check,
				`${version} is too old`,
				`install ${OLDEST_NODE.join(".")} or newer`,
			);
}

/** `tool`: the path of a usable setpriv. */
export function judgeSetpriv(
	tool: string | undefined,
	platform: string,
): Finding {
	const check = "setpriv";
	if (platform !== "linux") return fine(check, "not of this system");
	return tool === undefined
		? warning(
				check,
				"no setpriv with --pdeathsig: workers live a moment longer than a launcher that is killed, until its guard ends them",
				"install util-linux 2.33 or newer",
			)
		: fine(check, tool);
}

/** Whether `--warm auto` can do anything here. `python`: the version of one that can fork workers. */
export function judgeWarm(
	tool: string | undefined,
	python: string | undefined,
	platform: string,
): Finding {
	const check = "warm restarts";
	if (platform !== "linux") return fine(check, "none: they need Linux");
	if (tool === undefined) return fine(check, "none: they need setpriv");
	return python === undefined
		? fine(
				check,
				"can be had with Node (--warm auto); with Python they need 3.9, and Linux 5.3",
			)
		: fine(check, `can be had with Node and Python ${python} (--warm auto)`);
}

/** `missing`: the guard's programs that are missing; undefined without a shell. */
export function judgeGuard(missing: readonly string[] | undefined): Finding {
	const check = "guard";
	if (missing === undefined) {
		return problem(
			check,
			"no POSIX shell as /bin/sh: without the guard, workers may outlive a launcher that is killed",
			"install one (dash, bash or busybox)",
		);
	}
	return missing.length === 0
		? fine(check, "/bin/sh has what it needs")
		: problem(
				check,
				`not on PATH: ${missing.join(", ")}; without, processes that left their worker's group may outlive a launcher that is killed`,
				"install them (coreutils, grep or busybox), or correct PATH",
			);
}

/** What happened to a process whose parent had ended first. */
export type OrphanFate = "reaped" | "zombie" | "unknown";

export function judgeReaping(fate: OrphanFate, pid: number): Finding {
	const check = "process 1";
	const fix =
		'put an init before it: docker run --init, or in the image ENTRYPOINT ["tini", "--", "elastic-run"]';
	switch (fate) {
		case "reaped":
			return fine(check, "reaps orphaned processes");
		case "zombie":
			return warning(
				check,
				`${pid === 1 ? "is this program, which reaps no" : "does not reap"} orphaned processes: zombies pile up until the limit of processes`,
				fix,
			);
		case "unknown":
			return pid === 1
				? warning(check, "is this program, which reaps no orphans", fix)
				: fine(check, "not known to leave zombies");
	}
	return fate satisfies never;
}

export interface DeviceFacts {
	/** GPUs that `--nproc-per-node gpu` would count. */
	readonly visible: number;
	/** Files /dev/nvidia0, … */
	readonly present: number;
	/** CUDA_VISIBLE_DEVICES or HIP_VISIBLE_DEVICES with its value, if one is set. */
	readonly variable: string | undefined;
}

export function judgeDevices(facts: DeviceFacts): Finding {
	const { visible, present, variable } = facts;
	const check = "GPUs";
	const by = variable === undefined ? "" : ` by ${variable}`;
	const message = `${visible} visible${by}`;
	if (present > 0 && visible === 0) {
		return warning(
			check,
			`${message}, but ${present} NVIDIA devices are here`,
			"unset the variable, or give it their numbers",
		);
	}
	return present > 0 && visible > present
		? warning(
				check,
				`${message}, but only ${present} NVIDIA devices are here`,
				"correct the variable",
			)
		: fine(check, visible === 0 ? "none" : message);
}

/** `refusal`: the system's error if no port could be bound. */
export function judgePort(
	address: string,
	refusal: string | undefined,
): Finding {
	const check = "port";
	return refusal === undefined
		? fine(check, `one can be had on ${address}`)
		: warning(
				check,
				`none can be had on ${address} (${refusal}), where workers are to meet`,
				"give --local-addr an address of this machine",
			);
}
