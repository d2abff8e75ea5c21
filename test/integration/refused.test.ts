import {
	chmodSync,
	mkdirSync,
	readdirSync,
	symlinkSync,
	writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { job, type LaunchSite, openSite } from "../helpers/launch.js";

/** All that lies below the bases of a launcher. */
function listing(site: LaunchSite): readonly string[] {
	return readdirSync(site.path, { recursive: true }).map(String).sort();
}

/** Launches, and expects one line, and nothing that starts or is left behind. */
async function refusal(
	site: LaunchSite,
	args: readonly string[],
	exitCode: number,
): Promise<string> {
	const before = listing(site);
	const end = await site.launch(args).ended;
	expect(end).toMatchObject({ exitCode, stdout: "" });
	expect(end.stderr).toMatch(/^elastic-run: .*\n$/);
	const isOwn = (path: string) => /^channels\/elastic-run-\d+$/.test(path);
	const made = listing(site).filter((path) => !before.includes(path));
	expect(made.filter((path) => !isOwn(path))).toEqual([]);
	expect(site.workers()).toEqual([]);
	return end.stderr;
}

it("refuses a command that cannot be run before anything starts: 127, 126", async () => {
	const site = openSite();
	for (const command of ["./nothing-here", "no-such-program", "./train.js"]) {
		await refusal(site, ["run", command], 127);
	}
	writeFileSync(join(site.path, "tool"), "#!/bin/sh\n", { mode: 0o644 });
	await refusal(site, ["./tool"], 126);
});

it("refuses directories that cannot be used: of logs 2, of channels 1", async () => {
	const site = openSite();
	writeFileSync(site.logs, "");
	const logs = await refusal(site, [job("works.sh")], 2);
	expect(logs).toContain(`${site.logs} is not a directory`);

	const own = `elastic-run-${process.getuid?.()}`;
	const linked = openSite();
	symlinkSync(linked.temporary, join(linked.channels, own));
	expect(await refusal(linked, [job("works.sh")], 1)).toContain(
		linked.channels,
	);
	const open = openSite();
	mkdirSync(join(open.channels, own));
	chmodSync(join(open.channels, own), 0o755);
	expect(await refusal(open, [job("works.sh")], 1)).toContain(open.channels);
});
