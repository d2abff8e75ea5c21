import { join } from "node:path";
import { expect } from "vitest";
import type { ScriptedRun } from "./scripted-run.js";

const GOLDEN = join(import.meta.dirname, "../scenarios/golden");

/** The whole of what was said and done, held against a file that is read by people and changed on purpose only. */
export async function expectStory(
	run: ScriptedRun,
	name: string,
): Promise<void> {
	await expect(run.text).toMatchFileSnapshot(join(GOLDEN, `${name}.txt`));
}
