import { spawn } from "node:child_process";
import { closeSync, openSync } from "node:fs";
import { readIfThere } from "../marks.js";
import { AGENT_ENVIRONMENT } from "./launchers.js";

/** The process of one agent; what it says goes to a file. */
export class AgentProcess {
	/** Whether it is no surprise that it ends, however it does. */
	isExpected = false;
	#child;
	#problem;
	#messages;

	/**
	 * @param {readonly string[]} command
	 * @param {string} messages the file
	 */
	constructor([file, ...args], messages) {
		this.#messages = messages;
		const said = openSync(messages, "a");
		this.#child = spawn(file, args, {
			env: { ...process.env, ...AGENT_ENVIRONMENT },
			stdio: ["ignore", said, said],
		});
		closeSync(said);
		this.#child.once("error", (error) => {
			this.#problem = error;
		});
	}

	get pid() {
		return this.#child.pid;
	}

	get hasEnded() {
		const { exitCode, signalCode } = this.#child;
		return (
			exitCode !== null || signalCode !== null || this.#problem !== undefined
		);
	}

	/** Null where a signal ended it, or nothing has. */
	get exitCode() {
		return this.#child.exitCode;
	}

	/** @param {NodeJS.Signals} signal */
	signal(signal) {
		if (signal === "SIGKILL" || signal === "SIGTERM") this.isExpected = true;
		this.#child.kill(signal);
	}

	get lastWords() {
		const lines = readIfThere(this.#messages).trim().split("\n");
		return lines.slice(-12).join("\n");
	}
}
