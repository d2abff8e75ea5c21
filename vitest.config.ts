import { defineConfig } from "vitest/config";

const fast = (name: string, folder: string) => ({
	test: { name, include: [`test/${folder}/**/*.test.ts`] },
});

/** The projects whose tests start an etcd. */
const withEtcd = { globalSetup: "test/helpers/prepare-etcd.ts" };

export default defineConfig({
	test: {
		// Many of these tests wait for leases and processes: one at a time would waste the machine.
		maxWorkers: 2,
		reporters: ["default", "./test/helpers/closing-reporter.ts"],
		projects: [
			fast("unit", "unit"),
			{
				test: {
					name: "contract",
					include: ["test/contract/**/*.test.ts"],
					...withEtcd,
				},
			},
			fast("scenarios", "scenarios"),
			fast("simulation", "simulation"),
			{
				test: {
					name: "integration",
					include: ["test/integration/**/*.test.ts"],
					testTimeout: 60_000,
					hookTimeout: 60_000,
					...withEtcd,
				},
			},
		],
	},
});
