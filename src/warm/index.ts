export { isForNode } from "./parked-or-cold.js";
export { ParkingSpawner } from "./parking-spawner.js";
export { readPythonArguments } from "./python-arguments.js";
export type { StartSource } from "./start-notes.js";
export { WarmSpawner } from "./warm-spawner.js";
