import { defineConfig } from "vitest/config";

const fast = (name: string, folder: string) => ({
	test: { name, include: [`test/${folder}/**/*.test.ts`] },
});

export default defineConfig({
	test: {
		reporters: ["default", "./test/helpers/closing-reporter.ts"],
		projects: [
			fast("unit", "unit"),
			fast("contract", "contract"),
			fast("scenarios", "scenarios"),
			fast("simulation", "simulation"),
			{
				test: {
					name: "integration",
					include: ["test/integration/**/*.test.ts"],
					testTimeout: 60_000,
					hookTimeout: 60_000,
				},
			},
		],
	},
});
