import { expect, it, vi } from "vitest";
import { Replies } from "../../../src/agent/workers/node-resources.js";
import { ReplyWriter } from "../../../src/channel/reply-writer.js";
import { VirtualClock } from "../../helpers/virtual-clock.js";
import { temporaryRoot } from "../channel/samples.js";

// The watcher's package is never loaded, and the poll never comes.
vi.mock("chokidar", () => new Promise(() => {}));

it("T11 what a worker has said is read on demand while the watcher is still loaded", () => {
	const root = temporaryRoot();
	const { directory } = root.createWorker(0);
	const heard: string[] = [];
	const silent = () => {};
	const level = { debug: silent, info: silent, warn: silent, error: silent };
	const log = { ...level, attachFile: silent, close: silent };
	const replies = new Replies(root, { clock: new VirtualClock(0), log });
	replies.deliverTo((_, { kind }) => void heard.push(kind));
	replies.listen();
	new ReplyWriter(directory).write({ kind: "HELLO" }, 1);
	replies.readNow(directory);
	expect(heard).toEqual(["HELLO"]);
});
