import { defineConfig } from "vitest/config";

const common = {
	/** What a busy machine may need, not what is expected. */
	testTimeout: 120_000,
	hookTimeout: 120_000,
	/** No test replaces modules, and to load all of them for each file takes longer than most files' tests. */
	isolate: false,
};

/** The simulator's seeds have a bound of time, and both cores until they are played; then comes all else. */
const seeds = ["test/simulation/seeds-*.test.ts"];
const first = { sequence: { groupOrder: 0 } };
const afterSeeds = { sequence: { groupOrder: 1 } };

const pure = (name: string) => ({
	test: {
		name,
		include: [`test/${name}/**/*.test.ts`],
		exclude: seeds,
		...common,
		...afterSeeds,
	},
});

/** The projects whose tests start an etcd. */
const withEtcd = (name: string, env: Record<string, string> = {}) => ({
	test: {
		...pure(name).test,
		globalSetup: [
			"test/helpers/prepare-etcd.ts",
			"test/helpers/prepare-python.ts",
		],
		// Launchers that tests start by themselves leave no records in this user's home.
		env: { XDG_STATE_HOME: "/dev/null", ...env },
	},
});

/** These compute on both cores: side by side they would starve one another. */
const alone = { maxWorkers: 1, sequence: { groupOrder: 2 } };

/** To import torch ahead takes a core for seconds; tests to which that matters set the variable to nothing. */
const cold = { ELASTIC_RUN_WARM: "off" };

export default defineConfig({
	test: {
		// Many of these tests wait for leases and processes: one at a time would waste the machine, and more starve its leases.
		maxWorkers: 2,
		reporters: ["default", "./test/helpers/closing-reporter.ts"],
		projects: [
			{ test: { name: "seeds", include: seeds, ...common, ...first } },
			pure("unit"),
			withEtcd("contract"),
			pure("scenarios"),
			pure("simulation"),
			withEtcd("integration"),
			// What `npm test` leaves out, and `npm run test:all` runs.
			withEtcd("slow"),
			{ test: { ...withEtcd("frameworks", cold).test, ...alone } },
		],
	},
});
