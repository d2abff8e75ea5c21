import { expect, it } from "vitest";
import { ForkHelper } from "../../../src/warm/fork-helper.js";
import { VirtualClock } from "../../helpers/virtual-clock.js";

it.for([
	[[], { kind: "first", reason: "no step was made before" }],
	[["-I"], { kind: "command", reason: "Python runs with -I" }],
] as const)("has nothing to fork before a worker has taught it: python3 %o", ([
	flags,
	problem,
]) => {
	const helper = new ForkHelper({
		clock: new VirtualClock(),
		log: { info: () => {}, debug: () => {} },
		setpriv: undefined,
		registry: { add: () => {}, remove: () => {} },
		workers: 1,
		isFrugal: false,
	});
	const spec = {
		localRank: 0,
		file: "/usr/bin/python3",
		args: [...flags, "train.py"],
		cwd: "/",
		env: {},
		stdout: 1,
		stderr: 2,
	};
	const facts = { problem, difference: undefined, waiting: 0 };
	expect(helper.factsOf(spec)).toEqual(facts);
	helper.prepareNext(spec);
	expect(helper.next).toMatchObject({ problem, isImporting: false, shown: {} });
	helper.close();
});
