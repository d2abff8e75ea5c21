import type { Duplex } from "node:stream";
import { fields, list, type Shape, text, whole } from "../base/shape.js";
import type { WorkerSpec } from "../processes/index.js";
import {
	type ChangedEnvironment,
	LARGEST_LIST_BYTES,
	type ToImport,
} from "./learned-imports.js";
import { PLACE, withoutPlace } from "./same-worker.js";

/** Where a stream of a worker goes: a stream of the launcher's own, or a file. */
export type WorkerStream =
	| { readonly launchers: 0 | 1 | 2 }
	| {
			readonly path: string;
			readonly flags: number;
			/** Device and inode, as decimals: another file may have the path by then. */
			readonly identity: readonly [string, string];
	  };

export interface WorkerStreams {
	readonly stdout: WorkerStream;
	readonly stderr: WorkerStream;
}

/** What the launcher tells its helper, a line of JSON each. */
export type HelperOrder =
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
	  } & WorkerStreams);

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

/** What helpers leave to the workers, and what the workers had set by that. */
export interface LeftOut {
	readonly leaveOut: readonly LeftModule[];
	readonly sets: readonly SetVariable[];
}

type Skipped = readonly [index: number, why: string];

/** What the helper tells. `status` is that of wait(2). */
export type HelperNews =
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

export type Ready = Extract<HelperNews, { readonly kind: "ready" }>;

const pid = whole(2, 2 ** 31);
const count = whole(0, Number.MAX_SAFE_INTEGER);
const words = text(1_000);
const long = text(LARGEST_LIST_BYTES);
const skipped: Shape<Skipped> = (value, verdict): value is Skipped =>
	Array.isArray(value) &&
	value.length === 2 &&
	count(value[0], verdict) &&
	long(value[1], verdict);

type Of<Kind> = Omit<Extract<HelperNews, { kind: Kind }>, "kind">;

const SHAPES: {
	readonly [Kind in HelperNews["kind"]]: Shape<Of<Kind>>;
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
export function decodeNews(line: string): HelperNews | undefined {
	try {
		const value: unknown = JSON.parse(line);
		return isNews(value) ? value : undefined;
	} catch {
		return undefined;
	}
}

function isNews(value: unknown): value is HelperNews {
	if (typeof value !== "object" || value === null || !("kind" in value)) {
		return false;
	}
	const { kind } = value;
	if (typeof kind !== "string" || !isKind(kind)) return false;
	return SHAPES[kind](value, {});
}

function isKind(kind: string): kind is HelperNews["kind"] {
	return Object.hasOwn(SHAPES, kind);
}

const LONGEST_LINE = 1 << 20;

/** The socket between the launcher and a helper. */
export class HelperControl {
	private received = "";

	/** @param onNews called with undefined for what no helper says */
	constructor(
		private readonly socket: Duplex,
		private readonly onNews: (news: HelperNews | undefined) => void,
	) {
		socket.setEncoding("utf8");
		socket.on("data", (text: string) => this.read(text));
	}

	send(order: HelperOrder): void {
		this.socket.write(`${JSON.stringify(order)}\n`);
	}

	/** Tells the helper what to import, and in which environment it was started. */
	prepare(
		{ env: workers }: WorkerSpec,
		{ modules, users = [], environments = [] }: ToImport,
		{ leaveOut, sets }: LeftOut,
	): void {
		const place = Object.keys(workers).filter((name) => PLACE.has(name));
		this.send({
			kind: "prepare",
			env: helperEnvironment(workers),
			place,
			modules,
			users,
			environments,
			leaveOut,
			sets,
		});
	}

	private read(text: string): void {
		const lines = (this.received + text).split("\n");
		this.received = lines.pop() ?? "";
		for (const line of lines) this.onNews(decodeNews(line));
		if (this.received.length > LONGEST_LINE) this.onNews(undefined);
	}
}

/** The environment of the helper for workers like this one; it tells Python's hook that this process is a helper, and whose. */
export function helperEnvironment(
	env: WorkerSpec["env"],
): Record<string, string> {
	return {
		...withoutPlace(env),
		ELASTIC_RUN_HELPER_OF: String(process.pid),
	};
}
