import type { AgentConfig, StepsConfig } from "./agent-config.js";
import { OPTIONS } from "./options.js";
import type { SettingReader } from "./settings.js";

type FailuresConfig = Pick<
	AgentConfig,
	| "maxRestarts"
	| "restartLimits"
	| "restartDelay"
	| "escalate"
	| "maxIdenticalFailures"
	| "rules"
>;

export function restartsConfig(reader: SettingReader): FailuresConfig {
	const main = reader.value(OPTIONS.maxRestarts);
	return {
		maxRestarts: main.restarts,
		restartLimits: {
			windowMs: main.windowMs,
			node: reader.given(OPTIONS.maxNodeRestarts),
			role: reader.given(OPTIONS.maxRoleRestarts),
		},
		escalate: reader.given(OPTIONS.escalate) ?? [],
		restartDelay: reader.value(OPTIONS.restartDelay),
		maxIdenticalFailures: reader.value(OPTIONS.maxIdenticalFailures),
		rules: reader.given(OPTIONS.rule) ?? [],
	};
}

export function stepsConfig(reader: SettingReader): StepsConfig {
	return {
		pattern: reader.value(OPTIONS.stepPattern),
		hangMs: reader.value(OPTIONS.hangTimeout),
		startMs: reader.value(OPTIONS.startTimeout),
		onHang: reader.value(OPTIONS.onHang),
		evidenceMs: reader.value(OPTIONS.evidenceTimeout),
	};
}
