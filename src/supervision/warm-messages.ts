import { fields, list, type Shape, text, whole } from "../base/shape.js";

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
	  }
	| { readonly kind: "park"; readonly count: number }
	| ({
			readonly kind: "start";
			readonly pid: number;
			readonly env: Readonly<Record<string, string>>;
			readonly cwd: string;
			readonly readsStdin: boolean;
	  } & WarmStreams);

/** What the helper tells. `status` is that of wait(2). */
export type WarmNews =
	| { readonly kind: "hello" }
	| {
			readonly kind: "ready";
			readonly modules: number;
			/** Its private memory. */
			readonly bytes: number;
			readonly seconds: number;
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

const pid = whole(2, 2 ** 31);
const count = whole(0, Number.MAX_SAFE_INTEGER);
const words = text(1_000);

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
