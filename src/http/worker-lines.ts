import {
	type LogDirectory,
	type LogStream,
	plainLines,
} from "../logs/index.js";

const LAST_BYTES = 16 * 1024;
const MOST_LINES = 20;
const MOST_CHARACTERS = 500;
const NEWLINE = 0x0a;

/** The end of one file, as last read. */
interface Tail {
	readonly stream: LogStream;
	readonly size: number;
	/** When it was last written, in milliseconds since 1970. */
	readonly writtenAt: number;
	readonly lines: readonly string[];
}

interface RoundTails {
	/** In which the worker was started. */
	readonly round: number;
	readonly tails: readonly Tail[];
}

/** The workers' last lines. It reads their files on request, and again only after they have grown. */
export class WorkerLines {
	/** By local rank, for the newest worker there. */
	private readonly tails = new Map<number, RoundTails>();
	/** The same of the one before. */
	private readonly before = new Map<number, RoundTails>();

	/** The same directory, which also reports each worker's files. */
	noting(logs: LogDirectory): LogDirectory {
		return {
			directory: logs.directory,
			agentLog: logs.agentLog,
			get kept() {
				return logs.kept;
			},
			openWorker: (round, localRank, redirect) => {
				const opened = logs.openWorker(round, localRank, redirect);
				const streams = [opened.stdout, opened.stderr];
				const tails = streams
					.filter((stream) => stream !== undefined)
					.map((stream) => ({ stream, size: -1, writtenAt: 0, lines: [] }));
				const last = this.tails.get(localRank);
				if (last) this.before.set(localRank, last);
				this.tails.set(localRank, { round, tails });
				return opened;
			},
			createAhead: (localRank, redirect) =>
				logs.createAhead(localRank, redirect),
			openAhead: (localRank, name) => logs.openAhead(localRank, name),
			makeAgain: () => logs.makeAgain(),
			discardUnused: () => logs.discardUnused(),
		};
	}

	/** The last lines of a worker; none if its streams do not go to files. */
	of(localRank: number): readonly string[] {
		return this.readIn(this.tails, localRank);
	}

	/** Those of the worker that was there in this round; none if it is too long ago. */
	inRound(localRank: number, round: number): readonly string[] {
		const kept = [this.tails, this.before].find(
			(tails) => (tails.get(localRank)?.round ?? round + 1) <= round,
		);
		return kept === undefined ? [] : this.readIn(kept, localRank);
	}

	private readIn(
		kept: Map<number, RoundTails>,
		localRank: number,
	): readonly string[] {
		const { round = 0, tails = [] } = kept.get(localRank) ?? {};
		const read = tails.map(readAgain);
		kept.set(localRank, { round, tails: read });
		return lastOf(read);
	}
}

/**
 * The last lines of both of a worker's files. Lines have no times, so the file written last comes last, and leaves half
 * the room to the other.
 */
function lastOf(tails: readonly Tail[]): readonly string[] {
	const [later, earlier] = [...tails].sort(
		(left, right) => right.writtenAt - left.writtenAt,
	);
	const rest = (earlier?.lines ?? []).slice(-MOST_LINES / 2);
	const last = (later?.lines ?? []).slice(rest.length - MOST_LINES);
	const room = MOST_LINES - last.length;
	return [...(earlier?.lines ?? []).slice(-room), ...last];
}

function readAgain(tail: Tail): Tail {
	const { file, startBytes } = tail.stream;
	try {
		const { size, writtenAt } = file.look();
		if (size === tail.size) return tail;
		const lines = readLast(tail.stream, startBytes);
		return lines === undefined ? tail : { ...tail, size, writtenAt, lines };
	} catch {
		// The file is gone; what was read stays.
		return tail;
	}
}

/** Undefined if unreadable. @param from earlier bytes belong to an earlier process */
function readLast(
	{ file }: LogStream,
	from: number,
): readonly string[] | undefined {
	const section = file.section(from, LAST_BYTES);
	if (section === undefined) return undefined;
	const { bytes, start } = section;
	// The first line is incomplete, unless it is the only one.
	const cut = start > from ? bytes.indexOf(NEWLINE) + 1 : 0;
	const whole = cut < bytes.length ? bytes.subarray(cut) : bytes;
	return plainLines(whole).slice(-MOST_LINES).map(shorten);
}

/** Never cuts between the two halves of a character. */
function shorten(line: string): string {
	if (line.length <= MOST_CHARACTERS) return line;
	return `${line.slice(0, MOST_CHARACTERS - 1).replace(/[\uD800-\uDBFF]$/, "")}…`;
}
