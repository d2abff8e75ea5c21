import { type Fields, matching } from "../base/shape.js";
import { words } from "./value.js";

const digest = matching(
	/^([0-9a-f]{64})?$/,
	"a SHA-256 digest in hexadecimal, or empty",
);

export const RUN_COMMAND = {
	/** Program and arguments for people, without secrets. */
	words,
	/** SHA-256 of the program and its arguments as typed. */
	argumentsDigest: digest,
	/** SHA-256 of the script's content; empty if there is no readable script. */
	scriptDigest: digest,
};

/** An agent's command, as agents of a role compare it. */
export type RunCommand = Fields<typeof RUN_COMMAND>;
