import { isUtf8 } from "node:buffer";
import type { Stats } from "node:fs";
import { lstat, realpath, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { messageOf } from "../base/errors.js";
import { readSmallFile } from "../base/read-small-file.js";
import { isObject } from "../base/shape.js";
import { OPTIONS } from "./options.js";
import type { SourceReading } from "./settings.js";
import { settingsFromValues } from "./values.js";

/** Read from the working directory if the user names no file. */
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

/** A config file in the working directory. */
interface FoundConfigFile {
	/** Its name in messages. */
	readonly name: string;
	/** The path of the file itself, with all symbolic links resolved. */
	readonly path: string;
	/** Why it is ignored, with the fix: other users may have written it, or it is no file. */
	readonly unread: string | undefined;
}

export async function findConfigFiles(cwd: string): Promise<FoundConfigFile[]> {
	const found = await Promise.all(
		DEFAULT_FILES.map(async (name) => {
			const file = await findFile(cwd, name).catch(() => undefined);
			return file === undefined ? [] : [file];
		}),
	);
	return found.flat();
}

async function findFile(
	cwd: string,
	file: string,
): Promise<FoundConfigFile | undefined> {
	const name = `./${file}`;
	const link = join(cwd, file);
	await lstat(link);
	const path = await realpath(link).catch(() => undefined);
	if (path === undefined) {
		return { name, path: link, unread: "it is a link to nothing" };
	}
	const found = await stat(path);
	if (!found.isFile()) return { name, path, unread: "it is no file" };
	// A user with write access to a link's directory can point the link at another file.
	const directories = [...new Set([cwd, dirname(path)])];
	const uid = process.getuid?.();
	const doubts = [
		distrust("it", found, uid),
		...(await Promise.all(
			directories.map(async (directory) =>
				distrust(`its directory ${directory}`, await stat(directory), uid),
			),
		)),
	];
	const doubt = doubts.find((words) => words !== undefined);
	const unread =
		doubt && `${doubt}; if its settings are yours, use --config ${name}`;
	return { name, path, unread };
}

/**
 * Reads the settings of one config file. JSON is read as YAML, of which it is a subset.
 * @param file its name in messages
 * @param path its absolute path
 * @param namedBy the flag, variable or key that names it; undefined: it was found
 */
export async function readConfigFile(
	file: string,
	path: string,
	namedBy?: string,
): Promise<SourceReading> {
	const read = await readSmallFile(path);
	if ("problem" in read) {
		const name = namedBy === undefined ? file : `${namedBy} ${file}`;
		return refused(`${name}: ${read.problem}`);
	}
	if (!isUtf8(read.content)) {
		return refused(`${file}: it is not UTF-8; save it in UTF-8`);
	}
	const content = await parseYaml(read.content.toString("utf8"));
	if ("problems" in content) {
		return refused(...content.problems.map((words) => `${file}${words}`));
	}
	if (!isObject(content.value)) {
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

const GROUP_MAY_WRITE = 0o020;
const ALL_MAY_WRITE = 0o002;

/**
 * Why another user may have written a file or directory, in words that follow its name; undefined if only this user and
 * root can have.
 */
export function distrust(
	name: string,
	{ uid: owner, mode }: Pick<Stats, "uid" | "mode">,
	uid: number | undefined,
): string | undefined {
	if (uid === undefined) return undefined;
	if (owner !== uid && owner !== 0) return `${name} belongs to user ${owner}`;
	const octal = (mode & 0o7777).toString(8).padStart(4, "0");
	if ((mode & ALL_MAY_WRITE) !== 0) {
		return `every user may write ${name} (mode ${octal})`;
	}
	if ((mode & GROUP_MAY_WRITE) !== 0) {
		return `other users of its group may write ${name} (mode ${octal})`;
	}
	return undefined;
}
