import { basename } from "node:path";
import { ElasticRunError } from "../base/errors.js";

/** Thrown when a process asks for its place in the world and no launcher has given it one. Its `code` is NOT_LAUNCHED. */
export class NotLaunchedError extends ElasticRunError {
	override readonly name = "NotLaunchedError";

	constructor(problem: string) {
		const script = process.argv[1];
		const command = script === undefined ? "train.js" : basename(script);
		super(
			"NOT_LAUNCHED",
			`This process has no place in a run: ${problem}. Start it with the launcher: elastic-run --nproc-per-node 2 ${command}`,
		);
	}
}
