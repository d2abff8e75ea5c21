import type { PreflightConfig, ReplaceNodeConfig } from "./node-config.js";
import { OPTIONS } from "./options.js";
import type { SettingReader } from "./settings.js";

export function preflightConfig(reader: SettingReader): PreflightConfig {
	return {
		command: reader.given(OPTIONS.preflightCommand),
		timeoutMs: reader.value(OPTIONS.preflightTimeout),
	};
}

export function replaceNodeConfig(reader: SettingReader): ReplaceNodeConfig {
	return {
		command: reader.given(OPTIONS.replaceNodeCommand),
		timeoutMs: reader.value(OPTIONS.replaceNodeTimeout),
	};
}
