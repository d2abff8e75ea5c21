import { rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { messageFileName } from "../../../src/channel/layout.js";
import {
	type OpenReplyWatcher,
	ReplyWatch,
} from "../../../src/channel/reply-watch.js";
import { ReplyWriter } from "../../../src/channel/reply-writer.js";
import { VirtualClock } from "../../helpers/virtual-clock.js";
import { temporaryRoot } from "./samples.js";

const silent: OpenReplyWatcher = () => ({ close: async () => {} });
const absent: OpenReplyWatcher = (_replies, _onHint, onError) => {
	onError(new Error("EMFILE: too many open files"));
	return { close: async () => {} };
};

it("finds by its poll what was not notified, in channels that come and go", async () => {
	const { root, clock, received, say, begin } = start();
	await begin(silent);
	say(0);
	clock.pass(1_000);
	root.channels()[0]?.remove();
	const second = root.createWorker(0);
	new ReplyWriter(second.directory).write({ kind: "HELLO" }, 1);
	clock.pass(1_000);
	expect(received).toEqual(["w0.1 HELLO", "w0.3 HELLO"]);
});

it("reads where a notification says, and everywhere with its poll", async () => {
	const hints = new Map<string, () => void>();
	const { root, clock, received, say, begin } = start();
	await begin((replies, onHint) => {
		hints.set(replies, onHint);
		return { close: async () => {} };
	});
	say(0);
	say(1);
	hints.get(`${root.directory}/w1.2/replies`)?.();
	expect(received).toEqual(["w1.2 HELLO"]);
	clock.pass(1_000);
	expect(received).toEqual(["w1.2 HELLO", "w0.1 HELLO"]);
});

it("polls faster where there is no watcher, and says so once", async () => {
	const { clock, received, say, begin, warnings } = start();
	await begin(absent);
	say(0);
	clock.pass(150);
	expect(received).toEqual(["w0.1 HELLO"]);
	expect(warnings).toEqual([
		expect.stringMatching(/each 150 ms.*EMFILE: too many open files/),
	]);
});

it("watches each channel once, those that come later too, until it is removed", async () => {
	const open: string[] = [];
	const { root, clock, begin } = start();
	const watch = await begin((replies) => {
		const name = replies.split("/").at(-2) ?? "";
		open.push(name);
		return { close: async () => void open.splice(open.indexOf(name), 1) };
	});
	expect(open).toEqual(["w0.1", "w1.2"]);
	root.createWorker(2);
	watch.follow();
	expect(open).toEqual(["w0.1", "w1.2", "w2.3"]);
	root.channels()[0]?.remove();
	root.createWorker(0);
	clock.pass(1_000);
	expect(open).toEqual(["w1.2", "w2.3", "w0.4"]);
	await watch.close();
	expect(open).toEqual([]);
});

it("lets another channel have its turn during a flood, and rests as long as a turn takes", async () => {
	const { clock, received, say, begin } = start(() => clock.pass(10));
	for (let count = 0; count < 3; count++) say(0);
	say(1);
	await begin(silent);
	clock.pass(70);
	expect(received).toEqual([
		"w0.1 HELLO",
		"w1.2 HELLO",
		"w0.1 HELLO",
		"w0.1 HELLO",
	]);
});

it("only polls a channel while it is crowded", async () => {
	const hints = new Set<() => void>();
	const { root, clock, received, say, begin } = start();
	const [channel] = root.channels();
	if (channel === undefined) expect.unreachable();
	const watch = await begin((replies, onHint) => {
		if (replies === channel.replies) hints.add(onHint);
		return { close: async () => void hints.delete(onHint) };
	});
	for (let count = 0; count < 300; count++) {
		writeFileSync(join(channel.replies, `foreign-${count}`), "");
	}
	say(0);
	for (const onHint of hints) onHint();
	expect(received).toEqual(["w0.1 HELLO"]);
	expect(hints.size).toBe(0);
	say(0);
	clock.pass(1_000);
	expect(received).toHaveLength(2);
	expect(hints.size).toBe(0);
	for (let count = 0; count < 300; count++) {
		rmSync(join(channel.replies, `foreign-${count}`));
	}
	clock.pass(2_000);
	expect(hints.size).toBe(1);
	await watch.close();
	expect(clock.nextAlarm).toBeUndefined();
});

it("says once of a channel that its replies cannot be read, and of another kind once more", async () => {
	const { root, warnings, begin } = start();
	const watch = await begin(silent);
	const [one, other] = root.channels();
	if (one === undefined || other === undefined) expect.unreachable();
	const put = ({ directory, replies }: typeof one, n: number, text: string) => {
		writeFileSync(join(replies, messageFileName(n)), text);
		watch.readNow(directory);
	};
	for (let n = 1; n <= 300; n += 1) put(one, n, `{"no JSON": ${n}`);
	expect(warnings).toEqual([
		expect.stringMatching(/w0\.1\/replies\/0000000001\.json cannot be read/),
	]);
	put(one, 301, '{"version":1}');
	put(other, 1, "no JSON");
	put(one, 302, '{"version":2}');
	put(other, 2, "none either");
	expect(warnings).toHaveLength(3);
});

it("delivers nothing after it was closed, or for a channel that the listener removed", async () => {
	const { root, clock, received, say, begin } = start(() =>
		root.channels()[0]?.remove(),
	);
	const watch = await begin(silent);
	say(0);
	say(0);
	clock.pass(1_000);
	expect(received).toEqual(["w0.1 HELLO"]);
	say(1);
	await watch.close();
	for (const { directory } of root.channels()) watch.readNow(directory);
	clock.pass(5_000);
	expect(received).toHaveLength(1);
	expect(clock.nextAlarm).toBeUndefined();
});

it("touches what lies there each hour, so that no cleaner takes it for forgotten", async () => {
	const { root, clock, begin } = start();
	await begin(silent);
	const timeOf = (path: string) => statSync(join(root.directory, path)).mtimeMs;
	const before = timeOf("w0.1/tmp");
	clock.pass(3_599_000);
	expect(timeOf("w0.1/tmp")).toBe(before);
	clock.pass(1_000);
	for (const path of ["", "agent.json", "w0.1", "w0.1/tmp", "w1.2/events"]) {
		expect(timeOf(path), path).toBe(3_600_000);
	}
});

function start(onReply: () => void = () => {}) {
	const root = temporaryRoot();
	const writers = [0, 1].map(
		(rank) => new ReplyWriter(root.createWorker(rank).directory),
	);
	const clock = new VirtualClock(0);
	const received: string[] = [];
	const warnings: string[] = [];
	const begin = async (openWatcher: OpenReplyWatcher) => {
		const watch = new ReplyWatch(
			root,
			(directory, reply) => {
				received.push(`${directory.split("/").at(-1)} ${reply.kind}`);
				onReply();
			},
			{ clock, warn: (warning) => warnings.push(warning) },
		);
		onTestFinished(() => watch.close());
		await watch.open(async () => openWatcher);
		return watch;
	};
	const say = (rank: number) => writers[rank]?.write({ kind: "HELLO" }, 1);
	return { root, clock, received, warnings, begin, say };
}
