import type { Option } from "./option.js";
import { OPTIONS } from "./options.js";
import type { Setting, SettingReader, Settings } from "./settings.js";

/** A setting, and whether it has a value that excludes the other side of its pair. */
interface Side {
	readonly option: Option<unknown>;
	readonly holds: (settings: Settings) => boolean;
}

/** Says that the left side excludes the right one, of which it gets name and value. */
type Words = (right: string) => string;

const standalone = value(OPTIONS.standalone, (isOn) => isOn);
const memory = value(OPTIONS.rdzvBackend, (backend) => backend === "memory");
const inStore = value(OPTIONS.rdzvBackend, (backend) => backend !== "memory");
const inEtcd = value(OPTIONS.rdzvBackend, (backend) => backend === "etcd");
const severalNodes = value(OPTIONS.nnodes, ({ max }) => max > 1);
const endpoint = given(OPTIONS.rdzvEndpoint);
const masterAddr = given(OPTIONS.masterAddr);
const masterPort = given(OPTIONS.masterPort);
const module = value(OPTIONS.module, (isOn) => isOn);
const asItIs = value(OPTIONS.noNode, (isOn) => isOn);

/** One refusal is enough where both say the same. */
const inMemory: Side = {
	option: memory.option,
	holds: (settings) => memory.holds(settings) && !standalone.holds(settings),
};

const noStore: Words = (right) =>
	`one node without a store cannot be combined with ${right}; leave one of them out`;

/**
 * Pairs that exclude each other. Of two sources the later one gives way. From one source both are refused if there are
 * words; else the left one holds, or the reader of both refuses them.
 */
const EXCLUSIONS: readonly (readonly [Side, Side, Words?])[] = [
	[standalone, severalNodes, noStore],
	[standalone, endpoint],
	[standalone, inStore],
	[standalone, masterAddr],
	[standalone, masterPort],
	[inMemory, severalNodes, noStore],
	[inMemory, endpoint, noStore],
	[inMemory, masterAddr],
	[inMemory, masterPort],
	[masterAddr, endpoint],
	[masterAddr, inEtcd],
	[module, asItIs],
];

/**
 * Takes each option from the first source that has it, unless an earlier source excludes it: `--standalone` holds
 * whatever endpoint the environment names.
 */
export function mergeSettings(sources: readonly Settings[]): Settings {
	const merged = new Map<string, Setting>();
	for (const source of sources) {
		const added = [...source].filter(
			([key, setting]) =>
				!merged.has(key) && !isRuledOut(merged, new Map([[key, setting]])),
		);
		for (const [key, setting] of added) merged.set(key, setting);
	}
	return merged;
}

function isRuledOut(earlier: Settings, one: Settings): boolean {
	return EXCLUSIONS.some(
		([left, right]) =>
			(left.holds(earlier) && right.holds(one)) ||
			(right.holds(earlier) && left.holds(one)),
	);
}

/** Refuses what excludes each other within one source. */
export function refuseExclusions(reader: SettingReader): void {
	for (const [left, right, words] of EXCLUSIONS) {
		if (words && [left, right].every((side) => side.holds(reader.settings))) {
			const { option } = right;
			const other = `${reader.placeOf(option)} ${reader.textOf(option)}`;
			reader.refuse(left.option, words(other));
		}
	}
}

function given(option: Option<unknown>): Side {
	return { option, holds: (settings) => settings.has(option.key) };
}

/** An invalid value is reported elsewhere; it excludes nothing. */
function value<T>(option: Option<T>, isExclusive: (value: T) => boolean): Side {
	const holds = (settings: Settings) => {
		const setting = settings.get(option.key);
		if (setting === undefined) return false;
		const parsed = option.parse(setting.text, setting.origin);
		return "value" in parsed && isExclusive(parsed.value);
	};
	return { option, holds };
}
