export type { ProbedNode, ProbePlace } from "./open-probe.js";
export type { Leave } from "./routes.js";
