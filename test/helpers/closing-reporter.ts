import type { Reporter, TestCase, TestModule } from "vitest/node";

const SLOWEST = 10;

/** Prints the slowest files, the totals on one plain line and then, always last, what was skipped and why. */
export default class ClosingReporter implements Reporter {
	onTestRunEnd(modules: readonly TestModule[]): void {
		const tests = modules.flatMap((module) => [...module.children.allTests()]);
		const inState = (state: string) =>
			tests.filter((test) => test.result().state === state);
		const broken = modules.filter((module) => module.errors().length > 0);
		const skipped = inState("skipped");
		console.log(`\nslowest: ${describeSlowest(modules)}`);
		console.log(
			`${inState("passed").length} passed, ${inState("failed").length + broken.length} failed, ${skipped.length} skipped`,
		);
		console.log(`skipped: ${describeSkipped(skipped)}`);
	}
}

function describeSlowest(modules: readonly TestModule[]): string {
	return modules
		.map((module) => {
			const { setupDuration, collectDuration, duration } = module.diagnostic();
			const seconds = (setupDuration + collectDuration + duration) / 1000;
			return { name: module.relativeModuleId, seconds };
		})
		.sort((one, other) => other.seconds - one.seconds)
		.slice(0, SLOWEST)
		.map(({ name, seconds }) => `${name} ${seconds.toFixed(1)} s`)
		.join(", ");
}

function describeSkipped(tests: readonly TestCase[]): string {
	if (tests.length === 0) return "nothing";
	const byReason = new Map<string, number>();
	for (const test of tests) {
		const result = test.result();
		const reason =
			(result.state === "skipped" && result.note) ||
			`no reason given (${test.fullName})`;
		byReason.set(reason, (byReason.get(reason) ?? 0) + 1);
	}
	return [...byReason]
		.map(([reason, count]) => `${count} because ${reason}`)
		.join("; ");
}
