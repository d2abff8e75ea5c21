import { isAbsolute, normalize, resolve } from "node:path";
import { invalid, ok, type Parsed } from "../../src/config/parse/parsed.js";
import { wholeNumber } from "../../src/config/parse/scalars.js";
import type { Settings } from "../../src/config/settings.js";
import type { ProbePlace } from "../../src/http/open-probe.js";
import { FlagReader } from "./flag-reader.js";

const LARGEST_PORT = 65_535;
const DEFAULT_PATH = "/barrier-is-down";

/** What a barrier is told besides the rendezvous. */
export interface BarrierChoice {
	readonly probe: ProbePlace;
	/** Absolute; undefined: nobody says how the work ends. */
	readonly exitFile: string | undefined;
	/** Absolute; undefined: nobody waits for the outcome. */
	readonly outcomeFile: string | undefined;
}

export function readBarrier(
	flags: Settings,
	cwd: string,
): BarrierChoice | { readonly problems: readonly string[] } {
	const reader = new FlagReader("barrier", flags);
	const port = reader.read("probe-port", parseProbePort);
	const path = reader.read("probe-path", parseProbePath) ?? DEFAULT_PATH;
	const file = (name: string) => reader.read(name, (text) => ok(at(cwd, text)));
	const choice = {
		exitFile: file("exit-file"),
		outcomeFile: file("outcome-file"),
	};
	if (!flags.has("probe-port")) {
		reader.refuse("--probe-port is missing; give the port of the probe");
	}
	return port === undefined || reader.problems.length > 0
		? { problems: reader.problems }
		: { ...choice, probe: { port, path } };
}

function at(cwd: string, file: string): string {
	return isAbsolute(file) ? normalize(file) : resolve(cwd, file);
}

function parseProbePort(text: string): Parsed<number> {
	const port = wholeNumber(text, 0);
	return port !== undefined && port <= LARGEST_PORT
		? ok(port)
		: invalid(text, `a port, 0 (a free one) to ${LARGEST_PORT}`);
}

function parseProbePath(text: string): Parsed<string> {
	return /^\/[^\s?#]*$/.test(text)
		? ok(text)
		: invalid(text, "a path that begins with a slash, without ? and #");
}
