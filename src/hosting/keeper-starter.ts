import { spawn } from "node:child_process";
import { messageOf } from "../base/errors.js";
import { packageFile } from "../base/package-files.js";
import type { KeeperSettings } from "./etcd-arguments.js";
import type { KeeperEnd } from "./keeper.js";
import { KEEPER_EXIT } from "./keeper-exit.js";

const PROGRAM = "dist/src/hosting/keeper-process.js";
const MOST_WORDS = 2_000;

/** A keeper that this agent has started. */
export class StartedKeeper {
	end: KeeperEnd | undefined;
	private words = "";

	/**
	 * It has its own session and no environment from this agent. So whatever ends the agent and all processes with its mark
	 * does not end the keeper.
	 */
	constructor(settings: KeeperSettings) {
		const child = spawn(
			process.execPath,
			[packageFile(PROGRAM), JSON.stringify(settings)],
			{
				cwd: "/",
				detached: true,
				env: {},
				stdio: ["ignore", "ignore", "pipe"],
			},
		);
		child.stderr.setEncoding("utf8").on("data", (text: string) => {
			this.words = (this.words + text).slice(-MOST_WORDS);
		});
		child.on("error", (error) => {
			this.end = { kind: "failed", words: messageOf(error) };
		});
		child.on("close", (code) => {
			this.end ??= endOf(code, this.words.trim());
		});
		child.unref();
		if ("unref" in child.stderr && typeof child.stderr.unref === "function") {
			child.stderr.unref();
		}
	}
}

function endOf(code: number | null, words: string): KeeperEnd {
	switch (code) {
		case KEEPER_EXIT.done:
			return { kind: "done" };
		case KEEPER_EXIT.asked:
			return { kind: "asked" };
		case KEEPER_EXIT.taken:
			return { kind: "taken", words };
		default:
			return { kind: "failed", words };
	}
}
