export type { SharedImports } from "./fork-helper.js";
export { readPythonArguments } from "./python-command.js";
export {
	openWarmStarts,
	type WarmStarts,
} from "./warm-spawner.js";
