import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { job, openSite } from "../helpers/launch.js";
import { ec2 } from "../helpers/metadata-aws.js";
import { sideBySide } from "../helpers/this-test.js";

sideBySide();

const WAITS = job("works.sh");

test.concurrent("P1 file:PATH: when the file appears, the node leaves with 143", async () => {
	const site = openSite();
	const launch = site.launch(["--notices", "file:gone", WAITS]);
	await site.sawWorkers(1);
	writeFileSync(join(site.path, "gone"), "2\nthe disk is old\n");
	const { exitCode, stderr } = await launch.ended;
	expect(exitCode).toBe(143);
	expect(stderr).toContain("/gone is there: the disk is old");
});

test.concurrent("P9 --max-lifetime: the node leaves in time, with 75", async () => {
	const site = openSite();
	const launch = site.launch(["--max-lifetime", "4", WAITS]);
	const { exitCode, stderr } = await launch.ended;
	expect(exitCode).toBe(75);
	expect(stderr).toContain("its lifetime of 4 s is nearly over");
});

test.concurrent("P11 --deadline: a run that takes too long has failed", async () => {
	const site = openSite();
	const launch = site.launch(["--deadline", "2s", "--output", "json", WAITS]);
	const { exitCode, stdout, stderr } = await launch.ended;
	expect(exitCode).toBe(1);
	expect(stderr).toContain("deadline of 2s");
	expect(JSON.parse(stdout.trim().split("\n").at(-1) ?? "")).toMatchObject({
		outcome: "failed",
	});
});

test("P1 AWS: a spot interruption is heard by the launcher", async () => {
	const site = openSite();
	const server = await ec2();
	server.values.set(
		"spot/instance-action",
		JSON.stringify({
			action: "terminate",
			time: new Date(Date.now() + 5_000).toISOString(),
		}),
	);
	const launch = site.launch([WAITS], {
		env: { AWS_EC2_METADATA_SERVICE_ENDPOINT: server.url },
	});
	const { exitCode, stderr } = await launch.ended;
	expect(exitCode).toBe(143);
	expect(stderr).toContain("spot interruption: terminate");
});
