import { rmSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import {
	comesBackAndBears,
	loseHost,
	Meeting,
	newest,
} from "../helpers/meeting.js";

it("one of three hosts comes back without its data: it joins as a new member, and bears the loss of another", async () => {
	const meeting = await Meeting.at([2, 3, 4], "1:3");
	const launches = [2, 3, 4].map((number) => meeting.agent(number));
	await newest(meeting, [2, 3, 4]);
	if (launches[0]) await loseHost(meeting, 2, launches[0]);
	await newest(meeting, [3, 4]);
	const own = meeting.data().filter((name) => name.startsWith("127.0.0.2-"));
	expect(own).toHaveLength(1);
	for (const name of own) {
		const parent = `elastic-run-meeting-${process.getuid?.()}`;
		rmSync(join(meeting.site.channels, parent, name), { recursive: true });
	}
	await comesBackAndBears(meeting, launches);
}, 180_000);
