export type { SharedImports } from "./fork-helper.js";
export { readPythonArguments } from "./python-command.js";
export { WarmSpawner } from "./warm-spawner.js";
