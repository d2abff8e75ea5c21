import { fields, list, type Shape, text, whole } from "../base/shape.js";
import {
	type ChangedEnvironment,
	LARGEST_LIST_BYTES,
} from "./learned-modules.js";

/** Where a stream of a worker goes: a stream of the launcher's own, or a file. */
export type WarmStream =
	| { readonly launchers: 0 | 1 | 2 }
	| {
			readonly path: string;
			readonly flags: number;
			/** Device and inode, as decimals: another file may have the path by then. */
			readonly identity: readonly [string, string];
	  };

export interface WarmStreams {
	readonly stdout: WarmStream;
	readonly stderr: WarmStream;
}

/** What the launcher tells its helper, a line of JSON each. */
export type WarmOrder =
	| {
			readonly kind: "prepare";
			/** The environment in which it was started. */
			readonly env: Readonly<Record<string, string>>;
			readonly modules: readonly string[];
			/** Packages that cannot be imported ahead. */
			readonly leaveOut: readonly string[];
			/** As a worker has told them: see `LearnedModules`. */
			readonly users: readonly string[];
			readonly environments: readonly ChangedEnvironment[];
	  }
	| { readonly kind: "park"; readonly count: number }
	/** Look whether the preloaded files have changed. */
	| { readonly kind: "look" }
	| ({
			readonly kind: "start";
			readonly pid: number;
			readonly env: Readonly<Record<string, string>>;
			readonly cwd: string;
			readonly readsStdin: boolean;
	  } & WarmStreams);

type LeftModule = readonly [index: number, variable: string];

/** What the helper tells. `status` is that of wait(2). */
export type WarmNews =
	| { readonly kind: "hello" }
	| {
			readonly kind: "ready";
			readonly modules: number;
			/** Its private memory. */
			readonly bytes: number;
			readonly seconds: number;
			/** What it has left to the workers: by index in the list, the variable that differed. */
			readonly left: readonly LeftModule[];
	  }
	| {
			readonly kind: "refused";
			readonly reason: string;
			readonly leaveOut: readonly string[];
	  }
	| { readonly kind: "parked"; readonly pid: number }
	| { readonly kind: "started"; readonly pid: number }
	| {
			readonly kind: "not-started";
			readonly pid: number;
			readonly reason: string;
	  }
	| { readonly kind: "exited"; readonly pid: number; readonly status: number };

export type Ready = Extract<WarmNews, { readonly kind: "ready" }>;

const pid = whole(2, 2 ** 31);
const count = whole(0, Number.MAX_SAFE_INTEGER);
const words = text(1_000);
const variable = text(LARGEST_LIST_BYTES);
const leftModule: Shape<LeftModule> = (value, verdict): value is LeftModule =>
	Array.isArray(value) &&
	value.length === 2 &&
	count(value[0], verdict) &&
	variable(value[1], verdict);

type Of<Kind> = Omit<Extract<WarmNews, { kind: Kind }>, "kind">;

const SHAPES: {
	readonly [Kind in WarmNews["kind"]]: Shape<Of<Kind>>;
} = {
	hello: fields({}),
	ready: fields<Of<"ready">>({
		modules: count,
		bytes: count,
		seconds: (value): value is number =>
			typeof value === "number" && value >= 0,
		left: list(leftModule),
	}),
	refused: fields<Of<"refused">>({ reason: words, leaveOut: list(words) }),
	parked: fields<Of<"parked">>({ pid }),
	started: fields<Of<"started">>({ pid }),
	"not-started": fields<Of<"not-started">>({ pid, reason: words }),
	exited: fields<Of<"exited">>({ pid, status: whole(0, 0xffff) }),
};

/** Undefined for a line that is no news of a helper. */
export function decodeNews(line: string): WarmNews | undefined {
	try {
		const value: unknown = JSON.parse(line);
		return isNews(value) ? value : undefined;
	} catch {
		return undefined;
	}
}

function isNews(value: unknown): value is WarmNews {
	if (typeof value !== "object" || value === null || !("kind" in value)) {
		return false;
	}
	const { kind } = value;
	if (typeof kind !== "string" || !isKind(kind)) return false;
	return SHAPES[kind](value, {});
}

function isKind(kind: string): kind is WarmNews["kind"] {
	return Object.hasOwn(SHAPES, kind);
}

/** What users read once a helper can start workers. */
export function wordsOfReady(
	{ modules, bytes, seconds, left: [first, ...others] }: Ready,
	pid: number | undefined,
): string {
	const memory = `${Math.round(bytes / 1e6)} MB`;
	const done = `${modules} modules were imported ahead in ${seconds.toFixed(1)} s, ${memory} (pid ${pid})`;
	if (first === undefined) return `restarts will be warm: ${done}`;
	const [, variable] = first;
	const rest =
		others.length === 0
			? "one other is not, because the script sets"
			: `${others.length + 1} others were not, because the script sets`;
	return `restarts will be warm: ${done}; ${rest} ${variable} before it imports them`;
}
