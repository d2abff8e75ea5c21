/** One line of the text format of Prometheus that has a number. */
interface MetricSample {
	readonly name: string;
	readonly labels: Readonly<Record<string, string>>;
	readonly value: number;
}

interface ParsedMetrics {
	/** By the name of the family. */
	readonly types: ReadonlyMap<string, string>;
	readonly helps: ReadonlyMap<string, string>;
	readonly samples: readonly MetricSample[];
	/** The one number of this name with these labels, and perhaps others. @throws Error where there is none, or several */
	value(name: string, labels?: Readonly<Record<string, string>>): number;
}

const NAME = "[a-zA-Z_:][a-zA-Z0-9_:]*";
const LINE = new RegExp(`^(${NAME})(?:\\{(.*)\\})? (\\S+)$`);
const LABEL = /([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\[\\"n])*)"(?:,|$)/y;
const SUFFIX = /_(bucket|sum|count)$/;

/**
 * Version 0.0.4 of the format, as strict as Prometheus itself: what follows a family's
 * TYPE belongs to it, and nothing is there twice.
 * @throws Error with the first line that is wrong
 */
export function parseMetrics(text: string): ParsedMetrics {
	const types = new Map<string, string>();
	const helps = new Map<string, string>();
	const samples: MetricSample[] = [];
	const seen = new Set<string>();
	let family = "";
	if (!text.endsWith("\n")) throw new Error("the last line does not end");
	for (const line of text.split("\n")) {
		if (line === "") continue;
		const [, kind, name = "", rest = ""] =
			/^# (HELP|TYPE) (\S+) (.+)$/.exec(line) ?? [];
		if (kind !== undefined) {
			const known = kind === "HELP" ? helps : types;
			if (known.has(name)) throw new Error(`twice: ${line}`);
			known.set(name, rest);
			family = name;
			continue;
		}
		const sample = parseSample(line);
		const isOfFamily =
			sample.name === family ||
			(types.get(family) === "histogram" &&
				sample.name.replace(SUFFIX, "") === family);
		if (!isOfFamily) throw new Error(`not of ${family}: ${line}`);
		const key = JSON.stringify([
			sample.name,
			Object.entries(sample.labels).sort(),
		]);
		if (seen.has(key)) throw new Error(`twice: ${line}`);
		seen.add(key);
		samples.push(sample);
	}
	const value: ParsedMetrics["value"] = (name, labels = {}) => {
		const found = samples.filter(
			(sample) =>
				sample.name === name &&
				Object.entries(labels).every(
					([key, wanted]) => sample.labels[key] === wanted,
				),
		);
		const [first] = found;
		if (first === undefined || found.length > 1) {
			throw new Error(`${found.length} of ${name} ${JSON.stringify(labels)}`);
		}
		return first.value;
	};
	return { types, helps, samples, value };
}

function parseSample(line: string): MetricSample {
	const [, name, labelText = "", number = ""] = LINE.exec(line) ?? [];
	const value = number === "+Inf" ? Number.POSITIVE_INFINITY : Number(number);
	if (name === undefined || Number.isNaN(value)) {
		throw new Error(`no sample: ${line}`);
	}
	const labels: Record<string, string> = {};
	LABEL.lastIndex = 0;
	while (LABEL.lastIndex < labelText.length) {
		const [, label = "", text = ""] = LABEL.exec(labelText) ?? [];
		if (label === "" || label in labels) throw new Error(`labels: ${line}`);
		labels[label] = text;
	}
	return { name, labels, value };
}
