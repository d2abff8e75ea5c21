/** Where a worker's steps were learned, the best first. */
export const STEP_SOURCES = ["report", "hook", "output"] as const;
export type StepSource = (typeof STEP_SOURCES)[number];
