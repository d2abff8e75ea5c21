import { readFile, stat } from "node:fs/promises";
import { join, resolve } from "node:path";
import { messageOf, systemErrorCode } from "../../errors.js";
import { OPTIONS } from "./options.js";
import type { SourceReading } from "./settings.js";
import { isRecord, settingsFromValues } from "./values.js";

/** Read from the working directory where no file is named. */
const DEFAULT_FILES = ["elastic-run.yaml", "elastic-run.json"];

const LARGEST_FILE_BYTES = 1024 * 1024;

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

/** The settings of one config file. JSON is read as YAML, which contains it. */
export async function readConfigFile(
	file: string,
	cwd: string,
): Promise<SourceReading> {
	const text = await readText(resolve(cwd, file));
	if (typeof text !== "string")
		return refused(`--config ${file}: ${text.problem}`);
	const content = await parseYaml(text);
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
		refusedKeys: [OPTIONS.config.key],
	});
}

async function readText(path: string): Promise<string | { problem: string }> {
	try {
		const { size } = await stat(path);
		if (size > LARGEST_FILE_BYTES) {
			return { problem: `${size} bytes are too large; use at most 1 MiB` };
		}
		return await readFile(path, "utf8");
	} catch (error) {
		return {
			problem: READ_PROBLEMS[systemErrorCode(error) ?? ""] ?? messageOf(error),
		};
	}
}

const READ_PROBLEMS: Readonly<Record<string, string>> = {
	ENOENT: "no such file; check the path",
	EISDIR: "is a directory; give a file",
	EACCES: "permission denied; make it readable",
};

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
				return `:${line}:${col}: ${error.message.split("\n")[0]}`;
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
