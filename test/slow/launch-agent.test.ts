// What a program gets of a launch of its own, and a policy in its own language.
import { expect, it } from "vitest";
import { example } from "../fixtures/checkpoint-examples.js";
import { runCli } from "../helpers/cli.js";
import { ROOT } from "../helpers/import-graph.js";
import { job, openSite } from "../helpers/launch.js";

async function call(name: string) {
	const site = openSite();
	const words = [job("calls-launch-agent.js"), name];
	const { exitCode, stdout, stderr } = await site.start(process.execPath, words)
		.ended;
	expect(exitCode, stderr).toBe(0);
	await site.isSwept();
	return { answer: JSON.parse(stdout), stderr };
}

it("C9 a program asks its launch for the status, stops it, hears each change and takes the log, whatever its own functions throw", async () => {
	const { answer, stderr } = await call("tells");
	expect(answer.before).toBeNull();
	expect(answer.phases).toEqual(expect.arrayContaining(["JOINING", "RUNNING"]));
	expect(answer.after).toMatchObject({
		round: 1,
		workers: [{ rank: 0, state: "ended" }],
	});
	expect(answer.result).toMatchObject({ outcome: "left", exitCode: 143 });
	const text = answer.lines.join("\n");
	expect(text).toContain("info: round 1: started 1 of 1 workers");
	expect(text.match(/warn: onEvent: not mine/g)).toHaveLength(1);
	expect(stderr).toBe("");
});

it("C9 launchAgent is silent with log: false, and lives through an onEvent that rejects", async () => {
	const { answer, stderr } = await call("isSilent");
	expect(answer.outcome).toBe("succeeded");
	expect(stderr).toBe("");
});

it("C9 a policy in TypeScript is read by the project's own tsx", async () => {
	const policy = example("retry-node-policy.ts");
	const args = ["validate", "--restart-policy", policy, job("works.js")];
	const { exitCode, stdout } = await runCli(args, { cwd: ROOT });
	expect(stdout).toContain("retry-node-policy.ts");
	expect(exitCode).toBe(0);
});
