import { expect, it } from "vitest";
import { job, type LaunchSite, openSite } from "../helpers/launch.js";

const node = (site: LaunchSite, name: string) =>
	site.start(process.execPath, [job("calls-launch-agent.js"), name], {
		stdin: true,
	});

/** What a program that calls `launchAgent` saw. */
async function call(name: string) {
	const site = openSite();
	const { exitCode, stdout, stderr } = await node(site, name).ended;
	expect(exitCode, stderr).toBe(0);
	await site.isSwept();
	return { answer: JSON.parse(stdout), site };
}

it("launchAgent resolves with the outcome, and installs no signal handlers", async () => {
	const { answer } = await call("succeeds");
	expect(answer.result).toMatchObject({
		outcome: "succeeded",
		exitCode: 0,
		rootCause: null,
		workers: [
			{ rank: 0, exitCode: 0, signal: null },
			{ rank: 1, exitCode: 0, signal: null },
		],
	});
	expect(answer.during).toEqual(answer.before);
	expect(answer.after).toEqual(answer.before);
});

it("launchAgent starts nothing by a bad configuration, which is an ElasticRunError, and nothing once its signal is aborted", async () => {
	const { answer, site } = await call("refuses");
	expect(answer).toMatchObject({ isOwn: true, code: "USAGE", exitCode: 2 });
	expect(answer.message).toContain("maxRestarts");
	expect(site.workers()).toEqual([]);
	const aborted = await call("isStoppedBefore");
	expect(aborted.answer).toMatchObject({ outcome: "left", exitCode: 143 });
	expect(aborted.site.workers()).toEqual([]);
});

it("launchAgent may be called again at once, and twice at once: the guard of one run spares another one's workers", async () => {
	const five = await call("runsFive");
	expect(five.answer).toEqual(Array(5).fill("succeeded"));
	const { answer } = await call("runsTwo");
	expect(answer).toMatchObject([
		{ outcome: "succeeded" },
		{ outcome: "failed", rootCause: { failure: { exitCode: 9 } } },
	]);
	expect(answer[0].logDir).not.toBe(answer[1].logDir);
});

it("launchAgent stops when its signal is aborted", async () => {
	const site = openSite();
	const program = node(site, "isStopped");
	await site.sawWorkers(2);
	program.endInput();
	const { stdout } = await program.ended;
	expect(JSON.parse(stdout)).toMatchObject({ outcome: "left", exitCode: 143 });
	await site.isSwept();
});

it("T12 launchAgent asks a policy that is an object", async () => {
	const { answer } = await call("takesPolicyObject");
	expect(answer.asked).toMatchObject([
		{ rank: 0, exitCode: 42, signal: null, round: 1, nodeId: "node-a" },
	]);
	expect(answer.result).toMatchObject({
		outcome: "failed",
		restarts: { used: 0 },
	});
});
