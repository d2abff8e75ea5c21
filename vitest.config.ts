import { defineConfig } from "vitest/config";

/** What a busy machine may need, not what is expected. */
const bounds = { testTimeout: 60_000, hookTimeout: 60_000 };

const pure = (name: string, folder: string) => ({
	test: { name, include: [`test/${folder}/**/*.test.ts`], ...bounds },
});

/** The projects whose tests start an etcd. */
const withEtcd = { globalSetup: "test/helpers/prepare-etcd.ts" };

export default defineConfig({
	test: {
		// Many of these tests wait for leases and processes: one at a time would waste the machine.
		maxWorkers: 2,
		reporters: ["default", "./test/helpers/closing-reporter.ts"],
		projects: [
			pure("unit", "unit"),
			{
				test: {
					name: "contract",
					include: ["test/contract/**/*.test.ts"],
					...bounds,
					...withEtcd,
				},
			},
			pure("scenarios", "scenarios"),
			pure("simulation", "simulation"),
			{
				test: {
					name: "integration",
					include: ["test/integration/**/*.test.ts"],
					...bounds,
					...withEtcd,
				},
			},
		],
	},
});
