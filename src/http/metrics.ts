import { readdir } from "node:fs/promises";
import { Counter, Gauge, Histogram, Registry } from "prom-client";
import type { StartKind } from "../model/index.js";
import type {
	InstanceHistory,
	RoundLine,
	RoundPhases,
} from "../status/index.js";
import { METRICS, type Metric, type MetricSources } from "./metric-values.js";

/** From a barrier's milliseconds to the minutes in which a large job loads, in seconds. */
const BUCKETS = [0.01, 0.03, 0.1, 0.3, 1, 3, 10, 30, 100, 300];
const OWN_DESCRIPTORS = "/proc/self/fd";

/** The Prometheus registry of this agent. */
export class Metrics {
	private readonly registry = new Registry();
	private readonly instruments = METRICS.map((metric) => ({
		metric,
		instrument: this.instrumentOf(metric),
	}));
	private readonly rounds = new Counter({
		name: "elastic_run_rounds_total",
		help: "Rounds of this start of the run that ran or are over, by what ended the round before",
		labelNames: ["cause"],
		registers: [this.registry],
	});
	private readonly phases = new Histogram({
		name: "elastic_run_round_phase_seconds",
		help: "How long each step of the way into a round took: notice, stop, ready, barrier, start",
		labelNames: ["phase"],
		buckets: BUCKETS,
		registers: [this.registry],
	});
	private readonly starts = new Counter({
		name: "elastic_run_worker_starts_total",
		help: "Workers that this node has started, warm or cold, and why cold",
		labelNames: ["start", "reason"],
		registers: [this.registry],
	});
	private countedUntil = 0;
	private countedStarts: CountedStarts = new Map();

	/** @param startedAt when this process was started, in seconds since 1970 */
	constructor(startedAt: number) {
		this.measureProcess(startedAt);
	}

	get contentType(): string {
		return this.registry.contentType;
	}

	/** The text format of Prometheus. Every number has these labels. */
	render(
		sources: MetricSources,
		labels: { readonly run_id: string; readonly node_id: string },
	): Promise<string> {
		this.registry.setDefaultLabels(labels);
		for (const { metric, instrument } of this.instruments) {
			instrument.reset();
			const samples = metric.samples(sources);
			// Without labels a reset instrument counts as 0, but an unknown value must be absent.
			if (samples.length === 0) instrument.remove({});
			for (const [given, value] of samples) instrument.inc(given, value);
		}
		const { history, nodeId } = sources;
		if (history !== undefined) this.countStarts(history, nodeId);
		for (const { round, cause, phases } of history === undefined
			? []
			: countRounds(history, this.countedUntil)) {
			this.countedUntil = round;
			this.rounds.inc({ cause });
			for (const [phase, seconds] of phases) {
				this.phases.observe({ phase }, seconds);
			}
		}
		return this.registry.metrics();
	}

	private countStarts({ rounds }: InstanceHistory, nodeId: string): void {
		const { news, counted } = countStarts(rounds, nodeId, this.countedStarts);
		this.countedStarts = counted;
		for (const { count, ...labels } of news) this.starts.inc(labels, count);
	}

	private instrumentOf({ name, type, help, labels }: Metric) {
		const registers = [this.registry];
		const labelNames = [...labels];
		const settings = { name, help, labelNames, registers };
		return type === "gauge" ? new Gauge(settings) : new Counter(settings);
	}

	/** Under prom-client's names. Its own collector would wake the process for each sample of its loop. */
	private measureProcess(startedAt: number): void {
		const registers = [this.registry];
		const { cpuUsage, memoryUsage } = process;
		new Counter({
			name: "process_cpu_seconds_total",
			help: "Processor time of this agent's own process",
			registers,
			collect() {
				const { user, system } = cpuUsage();
				this.reset();
				this.inc((user + system) / 1e6);
			},
		});
		new Gauge({
			name: "process_resident_memory_bytes",
			help: "Resident memory of this agent's own process",
			registers,
			collect() {
				this.set(memoryUsage.rss());
			},
		});
		new Gauge({
			name: "process_start_time_seconds",
			help: "When this agent's own process was started, in seconds since 1970",
			registers,
		}).set(startedAt);
		new Gauge({
			name: "process_open_fds",
			help: "Open descriptors of this agent's own process, where /proc tells them",
			registers,
			async collect() {
				const open = await readdir(OWN_DESCRIPTORS).catch(() => undefined);
				if (open === undefined) this.remove({});
				else this.set(open.length);
			},
		});
	}
}

/** The facts about a round that are counted once. */
interface CountedRound {
	readonly round: number;
	/** The end of the previous round. */
	readonly cause: string;
	/** The known steps, in seconds. */
	readonly phases: readonly (readonly [name: string, seconds: number])[];
}

const PHASE_NAMES: readonly (readonly [keyof RoundPhases, string])[] = [
	["noticeMs", "notice"],
	["stopMs", "stop"],
	["readyMs", "ready"],
	["barrierMs", "barrier"],
	["startMs", "start"],
];

/** The rounds to count: those after the given one that have begun to run, or are over. A round in preparation is counted later. */
export function countRounds(
	{ rounds }: InstanceHistory,
	after: number,
): readonly CountedRound[] {
	return rounds
		.filter(({ round, startedAt, endedAt }) => {
			const isComplete = startedAt !== null || endedAt !== null;
			return round > after && isComplete;
		})
		.map(({ round, cause, phases }) => ({
			round,
			cause: cause.kind,
			phases: PHASE_NAMES.flatMap(([field, name]) => {
				const ms = phases[field];
				return ms === null ? [] : [[name, ms / 1000] as const];
			}),
		}));
}

/** How many starts of each round were counted, by round. */
type CountedStarts = ReadonlyMap<
	number,
	{ readonly warm: number; readonly cold: number }
>;

interface StartNews {
	readonly start: StartKind;
	/** The class of the reason; absent for a warm start. */
	readonly reason?: string;
	readonly count: number;
}

/** What a node has started since it was counted last. A round's record may come late, and grow while the round begins. */
function countStarts(
	rounds: readonly Pick<RoundLine, "round" | "starts">[],
	nodeId: string,
	counted: CountedStarts,
): { readonly news: readonly StartNews[]; readonly counted: CountedStarts } {
	const own = rounds.flatMap(({ round, starts }) => {
		const start = starts.find((one) => one.nodeId === nodeId);
		return start === undefined ? [] : [{ ...start, round }];
	});
	const news = own.flatMap(({ round, warm, cold, kind }): StartNews[] => {
		const before = counted.get(round) ?? { warm: 0, cold: 0 };
		return [
			{ start: "warm", count: warm - before.warm },
			{ start: "cold", reason: kind ?? "other", count: cold - before.cold },
		];
	});
	return {
		news: news.filter(({ count }) => count > 0),
		counted: new Map(
			own.map(({ round, warm, cold }) => [round, { warm, cold }]),
		),
	};
}
