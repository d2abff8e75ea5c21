import { stat } from "node:fs/promises";
import { join, resolve } from "node:path";
import { messageOf } from "../../errors.js";
import { OPTIONS } from "./options.js";
import { readSmallFile } from "./read-small-file.js";
import type { SourceReading } from "./settings.js";
import { isRecord, settingsFromValues } from "./values.js";

/** Read from the working directory where no file is named. */
const DEFAULT_FILES = ["elastic-run.yaml", "elastic-run.json"];

const COMMAND_IS_TYPED =
	"cannot stand in a config file; give the command on the command line, after the flags";
const REFUSED_KEYS = new Map([
	[
		OPTIONS.config.key,
		"cannot stand in a config file; use --config or ELASTIC_RUN_CONFIG",
	],
	["script", COMMAND_IS_TYPED],
	["args", COMMAND_IS_TYPED],
]);

/** The default config files that are there, as paths from `cwd`. */
export async function findConfigFiles(cwd: string): Promise<string[]> {
	const found = await Promise.all(
		DEFAULT_FILES.map(async (name) => {
			const file = await stat(join(cwd, name)).catch(() => undefined);
			return file?.isFile() ? [`./${name}`] : [];
		}),
	);
	return found.flat();
}

/**
 * The settings of one config file. JSON is read as YAML, which contains it.
 * @param namedBy the flag, variable or key that names it; undefined: it was found
 */
export async function readConfigFile(
	file: string,
	cwd: string,
	namedBy?: string,
): Promise<SourceReading> {
	const read = await readSmallFile(resolve(cwd, file));
	if ("problem" in read) {
		const name = namedBy === undefined ? file : `${namedBy} ${file}`;
		return refused(`${name}: ${read.problem}`);
	}
	const content = await parseYaml(read.content.toString("utf8"));
	if ("problems" in content) {
		return refused(...content.problems.map((words) => `${file}${words}`));
	}
	if (!isRecord(content.value)) {
		return refused(
			`${file}: expected a map of settings, for example maxRestarts: 3`,
		);
	}
	return settingsFromValues(content.value, {
		placeOf: (key) => `${file}: ${key}`,
		origin: file,
		refusedKeys: REFUSED_KEYS,
	});
}

async function parseYaml(
	text: string,
): Promise<{ value: unknown } | { problems: string[] }> {
	const { LineCounter, parseDocument } = await import("yaml");
	const lineCounter = new LineCounter();
	const document = parseDocument(text, { lineCounter, prettyErrors: false });
	if (document.errors.length > 0) {
		return {
			problems: document.errors.map((error) => {
				const { line, col } = lineCounter.linePos(error.pos[0]);
				const words =
					error.code === "MULTIPLE_DOCS"
						? "a second document begins here (---); leave one in the file"
						: error.message.split("\n")[0];
				return `:${line}:${col}: ${words}`;
			}),
		};
	}
	try {
		return { value: document.toJS() ?? {} };
	} catch (error) {
		return { problems: [`: ${messageOf(error)}`] };
	}
}

function refused(...problems: string[]): SourceReading {
	return { settings: new Map(), problems };
}
