import { AsyncLocalStorage } from "node:async_hooks";
import {
	aroundEach,
	onTestFailed as onAnyTestFailed,
	onTestFinished as onAnyTestFinished,
	TestRunner,
} from "vitest";

interface ThisTest {
	onTestFinished(clean: () => void | Promise<void>): void;
	onTestFailed(explain: () => void): void;
	skip(reason: string): never;
}

const concurrentTests = new AsyncLocalStorage<ThisTest>();

/**
 * To be called in a file, or in a describe, whose tests run at the same time because most of what they do is waiting:
 * vitest by itself cannot tell which of them calls a helper.
 */
export function sideBySide(): void {
	aroundEach((run, context) => concurrentTests.run(context, run));
}

/** Calls this when the test has ended that asks for it. */
export function onTestFinished(clean: () => void | Promise<void>): void {
	const test = concurrentTests.getStore();
	if (test === undefined) onAnyTestFinished(clean);
	else test.onTestFinished(clean);
}

/** Calls this when the test fails that asks for it. */
export function onTestFailed(explain: () => void): void {
	const test = concurrentTests.getStore();
	if (test === undefined) onAnyTestFailed(explain);
	else test.onTestFailed(explain);
}

/** The test that calls this; undefined: none does. */
export function thisTest(): Pick<ThisTest, "skip"> | undefined {
	return concurrentTests.getStore() ?? TestRunner.getCurrentTest()?.context;
}
