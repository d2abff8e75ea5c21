import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { EventReader } from "../../../src/channel/event-reader.js";
import type { OutgoingNotice } from "../../../src/channel/worker-channel.js";
import {
	temporaryDirectory,
	temporaryRoot,
	work,
	workerInfo,
} from "./samples.js";

const notice = (source: string | null): OutgoingNotice => ({
	...{ kind: "NOTICE", workerState: "HEALTHY", changeEvent: null },
	...{ instance: 1, round: 1, workerInfo: workerInfo(1) },
	...{ source, reason: "spot interruption" },
	deadline: source === null ? null : 1_795_163_950_075,
});

function open() {
	const channel = temporaryRoot(temporaryDirectory()).createWorker(0);
	const warnings: string[] = [];
	const reader = () =>
		new EventReader(channel.directory, (words) => warnings.push(words));
	const wire = (path: string) =>
		JSON.parse(readFileSync(join(channel.directory, path), "utf8"));
	channel.send(work(1), 1);
	return { channel, warnings, reader, wire };
}

it("a notice is an event of its own, beside the newest one of the rounds", () => {
	const { channel, reader, wire } = open();
	const early = reader();
	expect(early.notice()).toBeUndefined();
	channel.notify(notice("aws"), 2);
	expect(wire("events/0000000002.json")).toMatchObject({
		...{ kind: "NOTICE", sequence: 2, deadline: 1_795_163_950_075 },
		...{ source: "aws", reason: "spot interruption", worker_state: "HEALTHY" },
	});
	expect(wire("latest.json")).toMatchObject({
		...{ kind: "WORK", sequence: 1 },
		notice: { sequence: 2, source: "aws" },
	});
	for (const one of [early, reader()]) {
		expect(one.newest()).toMatchObject({ kind: "WORK", sequence: 1 });
		expect(one.notice()).toMatchObject({ sequence: 2, source: "aws" });
		expect(one.next(1)).toMatchObject({ kind: "NOTICE" });
	}
});
