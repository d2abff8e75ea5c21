export type {
	AgentConfig,
	ExitCodeConfig,
	HttpConfig,
	NoticesConfig,
	StepsConfig,
	StoreConfig,
	WorkerCommand,
} from "./agent-config.js";
export {
	FOREIGN_FLAGS,
	ignoredFlagsWarning,
	loginFromEnvironment,
	SECRET_VARIABLES,
	settingsFromEnvironment,
} from "./environment.js";
export { mergeSettings } from "./exclusions.js";
export { type Host, isStdinGiven, systemHost } from "./host.js";
export { type LaunchConfig, resolveLaunchConfig } from "./launch-config.js";
export {
	detectLocalAddress,
	externalAddresses,
	glooInterface,
} from "./local-address.js";
export { type Option, onOff, optionsOf } from "./option.js";
export { ALL_OPTIONS, COMMON_OPTIONS, OPTIONS } from "./options.js";
export {
	addressInWords,
	addressOf,
	endpointOf,
	type HttpAddress,
	isHttps,
	isLoopback,
	isOnlyLocal,
} from "./parse/endpoints.js";
export type { WorkerCount } from "./parse/nodes.js";
export { parseDeadline, parseSomeTime } from "./parse/notices.js";
export { parseFacts } from "./parse/rules.js";
export {
	durationInWords,
	invalid,
	ok,
	oneOf,
	type Parsed,
	parseCount,
	parseDuration,
	parseName,
	problem,
	quote,
	wholeNumber,
} from "./parse/scalars.js";
export {
	type CommonConfig,
	checkSettings,
	findCommand,
	type ResolveRequest,
	resolveSettings,
	type SettingsCheck,
} from "./resolve.js";
export { nodeHook, pythonLibrary, pythonWheel } from "./resolve-command.js";
export {
	digestFile,
	hideSecret,
	identifyCommand,
} from "./resolve-identity.js";
export {
	givenBackend,
	loopbackTrouble,
	resolveStore,
} from "./resolve-store.js";
export { countWorkers, listDeviceFiles } from "./resolve-workers.js";
export {
	EMPTY_VALUE,
	type NameOf,
	type Report,
	type Setting,
	SettingReader,
	type Settings,
} from "./settings.js";
export { type CommandLine, readCommandLine, readSources } from "./sources.js";
