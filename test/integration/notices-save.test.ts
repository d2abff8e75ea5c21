import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { job, openSite } from "../helpers/launch.js";

it("P9 a notice makes the checkpoint helper save exactly once, the node leaves, and the next launch goes on from there", async () => {
	const site = openSite();
	const gone = join(site.path, "gone");
	const launch = (...worker: readonly string[]) =>
		site.launch(
			["--notices", "file:gone", job("saves-at-notice.js"), ...worker],
			{ env: { TRAIN_STATE: join(site.path, "state") } },
		);
	const first = launch();
	await site.sawWorkers(1);
	// Nothing but the save makes the node leave before this deadline.
	writeFileSync(gone, "3600\nthe disk is old\n");
	const { exitCode, stdout, stderr } = await first.ended;
	expect(exitCode).toBe(143);
	expect(stderr).toContain("/gone is there: the disk is old");
	const [one, saved, ...more] = numbers(stdout, "saved");
	expect({ loaded: numbers(stdout, "loaded"), one, more }).toEqual({
		...{ loaded: [0], one: 1, more: [] },
	});
	// It saw the notice for many more steps.
	expect(numbers(stdout, "ended at")[0]).toBeGreaterThanOrEqual(
		(saved ?? expect.unreachable()) + 20,
	);

	rmSync(gone);
	const second = await launch("10").ended;
	expect(second.exitCode).toBe(0);
	expect(numbers(second.stdout, "loaded")).toEqual([saved]);
	expect(numbers(second.stdout, "ended at")).toEqual([(saved ?? 0) + 10]);
});

function numbers(text: string, word: string): readonly number[] {
	return [...text.matchAll(new RegExp(`${word} (\\d+)$`, "gm"))].map(
		([, number]) => Number(number),
	);
}
