import type { Duplex } from "node:stream";
import { attempt } from "../base/attempt.js";
import {
	amount,
	fields,
	flag,
	type Infer,
	list,
	mapOf,
	nullable,
	type Shape,
	text,
	whole,
} from "../base/shape.js";
import type { WorkerSpec } from "../processes/index.js";
import {
	type ChangedEnvironment,
	costOf,
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
			/** What all these imports have cost the worker; 0 if nobody has measured it. */
			readonly seconds: number;
	  }
	| ({
			readonly kind: "park";
			readonly localRank: number;
			/** The variables of its worker's place; null: it imports nothing of its own. */
			readonly place: Readonly<Record<string, string>> | null;
	  } & LeftOut)
	/** Look whether the preloaded files have changed. */
	| { readonly kind: "look" }
	| ({
			readonly kind: "start";
			readonly pid: number;
			readonly env: Readonly<Record<string, string>>;
			readonly cwd: string;
			readonly readsStdin: boolean;
	  } & WorkerStreams);

/** What helpers leave to the workers, and what the workers had set by that. */
export interface LeftOut {
	readonly leaveOut: readonly LeftModule[];
	readonly sets: readonly SetVariable[];
}

type Skipped = readonly [index: number, why: string];

const pid = whole(2, 2 ** 31);
const count = whole(0, Number.MAX_SAFE_INTEGER);
const words = text(1_000);
const long = text(LARGEST_LIST_BYTES);
const skipped: Shape<Skipped> = (value, verdict): value is Skipped =>
	Array.isArray(value) &&
	value.length === 2 &&
	count(value[0], verdict) &&
	long(value[1], verdict);

/** A module that cannot be imported ahead, because of what one does that it imports, or it itself. */
export type LeftModule = Infer<typeof leftModule>;

const leftModule = fields({
	module: words,
	root: words,
	what: long,
	/** A process that is parked for one local rank may import it. */
	alone: flag,
});

/** What a module has set that is left out: others were imported with it. */
export type SetVariable = Infer<typeof setVariable>;

const setVariable = fields({
	variable: long,
	value: long,
	/** As that of the module. */
	alone: flag,
});

/** What a helper reports, by kind. */
const NEWS = {
	hello: fields({}),
	ready: fields({
		pid,
		modules: count,
		/** Its private memory. */
		bytes: count,
		seconds: amount(0, Number.MAX_VALUE),
		/** What it has left to the workers besides what is left out: by index in the list, why. */
		left: list(skipped),
		/** What it has left out besides what it was told. */
		leaveOut: list(leftModule),
		sets: list(setVariable),
	}),
	/** Without `leaveOut` and `sets` it could start workers. */
	refused: fields({
		reason: words,
		leaveOut: list(leftModule),
		sets: list(setVariable),
	}),
	parked: fields({
		pid,
		...{ localRank: count, modules: count, bytes: count },
		seconds: amount(0, Number.MAX_VALUE),
		left: list(skipped),
		/** What its imports have read of its worker's place; null: it has imported nothing of its own. */
		reads: nullable(mapOf(words, nullable(long))),
	}),
	/** A process could not import what it should, or could without `leaveOut`. It ends. */
	unfit: fields({
		...{ pid, localRank: count, reason: words },
		...{ leaveOut: list(leftModule), sets: list(setVariable) },
	}),
	started: fields({ pid }),
	"not-started": fields({ pid, reason: words }),
	/** With the status of wait(2). */
	exited: fields({ pid, status: whole(0, 0xffff) }),
};

type NewsOf<Kind extends keyof typeof NEWS> = {
	readonly kind: Kind;
} & Infer<(typeof NEWS)[Kind]>;

export type HelperNews = {
	[Kind in keyof typeof NEWS]: NewsOf<Kind>;
}[keyof typeof NEWS];

export type Ready = NewsOf<"ready">;
export type Parked = NewsOf<"parked">;
export type Unfit = NewsOf<"unfit">;

/** Undefined for a line that is no news of a helper. */
export function decodeNews(line: string): HelperNews | undefined {
	const value: unknown = attempt(() => JSON.parse(line));
	return isNews(value) ? value : undefined;
}

function isNews(value: unknown): value is HelperNews {
	if (typeof value !== "object" || value === null || !("kind" in value)) {
		return false;
	}
	const { kind } = value;
	if (typeof kind !== "string" || !isKind(kind)) return false;
	return NEWS[kind](value, {});
}

function isKind(kind: string): kind is HelperNews["kind"] {
	return Object.hasOwn(NEWS, kind);
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
		toImport: ToImport,
		{ leaveOut, sets }: LeftOut,
	): void {
		const { modules, users = [], environments = [] } = toImport;
		const place = Object.keys(workers).filter((name) => PLACE.has(name));
		this.send({
			kind: "prepare",
			env: helperEnvironment(workers),
			place,
			modules,
			users,
			environments,
			seconds: costOf(toImport) / 1_000,
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
