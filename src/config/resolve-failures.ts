import type { AgentConfig, StepsConfig } from "./agent-config.js";
import { OPTIONS } from "./options.js";
import type { SettingReader } from "./settings.js";

export function restartsConfig(
	reader: SettingReader,
): Pick<
	AgentConfig,
	| "maxRestarts"
	| "maxIdenticalFailures"
	| "rules"
	| "failoverScope"
	| "driverRoles"
> {
	return {
		maxRestarts: reader.value(OPTIONS.maxRestarts),
		maxIdenticalFailures: reader.value(OPTIONS.maxIdenticalFailures),
		failoverScope: reader.value(OPTIONS.failoverScope),
		driverRoles: reader.given(OPTIONS.driverRole) ?? [],
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
