import { expect, it } from "vitest";
import { withStep } from "../../../src/agent/steps/open-steps.js";

const EXIT = {
	...{ code: 3, signal: null, uptimeMs: 1_000 },
	...{ signalledByAgent: false },
};
const failed = {
	...({ kind: "worker-exited", localRank: 1, exitCode: 3, pid: 7 } as const),
	...{ description: "exit code 3", hint: undefined, error: undefined },
	...{ exit: EXIT, groupRemains: false },
};

it("hears what workers have said before one of them is said to have failed", () => {
	const heard: string[] = [];
	const watches = {
		hear: () => void heard.push("reports"),
		steps: {
			stepOf: () => {
				heard.push("step");
				return 7;
			},
		},
	};
	expect(withStep(failed, watches)).toMatchObject({ step: 7 });
	expect(heard).toEqual(["reports", "step"]);
	const ended = { ...failed, exit: { ...EXIT, signalledByAgent: true } };
	withStep(ended, watches);
	withStep({ ...failed, exitCode: 0 }, watches);
	expect(heard).toHaveLength(2);
});
