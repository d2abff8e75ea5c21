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
			/** The variables that differ between workers, as far as they have them. */
			readonly place: readonly string[];
			readonly leaveOut: readonly LeftModule[];
			readonly sets: readonly SetVariable[];
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

/** A module that cannot be imported ahead, because of what one does that it imports, or it itself. */
export interface LeftModule {
	readonly module: string;
	readonly root: string;
	readonly what: string;
}

/** What a module has set that is left out: others were imported with it. */
export interface SetVariable {
	readonly variable: string;
	readonly value: string;
}

type Skipped = readonly [index: number, why: string];

/** What the helper tells. `status` is that of wait(2). */
export type WarmNews =
	| { readonly kind: "hello" }
	| {
			readonly kind: "ready";
			readonly modules: number;
			/** Its private memory. */
			readonly bytes: number;
			readonly seconds: number;
			/** What it has left to the workers besides what it was told to leave out: by index in the list, why. */
			readonly left: readonly Skipped[];
	  }
	| {
			readonly kind: "refused";
			readonly reason: string;
			/** Without these it could start workers. */
			readonly leaveOut: readonly LeftModule[];
			readonly sets: readonly SetVariable[];
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
const long = text(LARGEST_LIST_BYTES);
const skipped: Shape<Skipped> = (value, verdict): value is Skipped =>
	Array.isArray(value) &&
	value.length === 2 &&
	count(value[0], verdict) &&
	long(value[1], verdict);

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
		left: list(skipped),
	}),
	refused: fields<Of<"refused">>({
		reason: words,
		leaveOut: list(
			fields<LeftModule>({ module: words, root: words, what: long }),
		),
		sets: list(fields<SetVariable>({ variable: long, value: long })),
	}),
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
