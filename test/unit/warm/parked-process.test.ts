import { mkdirSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { findSetpriv } from "../../../src/processes/setpriv.js";
import { ParkedProcess } from "../../../src/warm/parked-process.js";
import { temporaryFolder, waitFor } from "../../helpers/processes.js";

it.skipIf(process.platform !== "linux")(
	"becomes no worker whose working directory is another one of the same name, nor after a signal has stopped or ended it",
	async () => {
		const folder = temporaryFolder();
		onTestFinished(folder.remove);
		const cwd = join(folder.path, "job");
		mkdirSync(cwd);
		const PATH = process.env.PATH ?? "";
		const spec = {
			...{ localRank: 0, file: "/bin/sleep", args: ["600"], cwd },
			...{ env: { PATH }, stdout: 1, stderr: 2 },
		};
		const setpriv = (await findSetpriv(PATH)) ?? "";
		const parked = new ParkedProcess(spec, spec, "/hook", setpriv);
		onTestFinished(() => parked.close());
		writeFileSync(join(cwd, "train.js"), "");
		expect(parked.differenceFrom(spec)).toBeUndefined();
		renameSync(cwd, `${cwd}.old`);
		mkdirSync(cwd);
		expect(parked.differenceFrom(spec)).toBe(
			"the working directory is another one",
		);
		const problem = () => parked.problem?.reason;
		expect(problem()).toBeUndefined();
		process.kill(parked.pid, "SIGSTOP");
		await waitFor("its stop", () => problem()?.includes("stopped") === true);
		parked.close();
		await waitFor("its end", () => problem()?.includes("ended") === true);
	},
);
