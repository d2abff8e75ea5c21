import type { AgentConfig, StepsConfig } from "./agent-config.js";
import type { ExitCodeConfig } from "./node-config.js";
import { OPTIONS } from "./options.js";
import type { SettingReader } from "./settings.js";

type FailuresConfig = Pick<
	AgentConfig,
	| "maxRestarts"
	| "restartLimits"
	| "restartDelay"
	| "maxIdenticalFailures"
	| "rules"
	| "isRecreated"
	| "exitCodes"
	| "failoverScope"
	| "driverRoles"
>;

export function restartsConfig(
	reader: SettingReader,
	store: Pick<AgentConfig, "backend" | "meeting">,
): FailuresConfig {
	const main = reader.value(OPTIONS.maxRestarts);
	return {
		maxRestarts: main.restarts,
		restartLimits: {
			windowMs: main.windowMs,
			node: reader.given(OPTIONS.maxNodeRestarts),
			role: reader.given(OPTIONS.maxRoleRestarts),
		},
		restartDelay: reader.value(OPTIONS.restartDelay),
		maxIdenticalFailures: reader.value(OPTIONS.maxIdenticalFailures),
		failoverScope: reader.value(OPTIONS.failoverScope),
		driverRoles: reader.given(OPTIONS.driverRole) ?? [],
		rules: reader.given(OPTIONS.rule) ?? [],
		isRecreated: isRecreated(reader, store),
		exitCodes: exitCodes(reader),
	};
}

/** The state of the run must outlive this agent. */
function isRecreated(
	reader: SettingReader,
	{ backend, meeting }: Pick<AgentConfig, "backend" | "meeting">,
): boolean {
	const { restartStrategy } = OPTIONS;
	if (reader.value(restartStrategy) !== "recreate") return false;
	if (backend === "etcd" && meeting === undefined) return true;
	const lost =
		backend === "memory"
			? "without etcd the run's state, its budgets included, ends with this agent"
			: "the etcd that agents start may end with them, and the run's state with it";
	reader.refuse(
		restartStrategy,
		`recreate: ${lost}; give --rdzv-backend etcd and an etcd as --rdzv-endpoint, or leave it out`,
	);
	return false;
}

/** A scheduler must be able to tell the two apart. */
function exitCodes(reader: SettingReader): ExitCodeConfig {
	const { exitCodeReplace, exitCodeRestart, propagateExitCode } = OPTIONS;
	const replaceNode = reader.value(exitCodeReplace);
	const restart = reader.value(exitCodeRestart);
	if (
		reader.sound(exitCodeReplace, exitCodeRestart) &&
		replaceNode === restart
	) {
		const option = reader.given(exitCodeRestart)
			? exitCodeRestart
			: exitCodeReplace;
		reader.refuse(
			option,
			`${restart} says both "replace this node" and "start this agent again"; give two different codes`,
		);
	}
	return {
		replaceNode,
		restart,
		isPropagated: reader.value(propagateExitCode),
	};
}

export function stepsConfig(reader: SettingReader): StepsConfig {
	return {
		pattern: reader.value(OPTIONS.stepPattern),
		hangMs: reader.value(OPTIONS.hangTimeout),
		startMs: reader.value(OPTIONS.startTimeout),
		onHang: reader.value(OPTIONS.onHang),
		evidenceMs: reader.value(OPTIONS.evidenceTimeout),
		exitMs: reader.value(OPTIONS.exitTimeout),
	};
}
