import type { Option } from "./option.js";
import { OPTIONS } from "./options.js";
import type { Setting, Settings } from "./settings.js";

/** Whether a setting has a value that excludes the other side of its pair. */
type Side = (settings: Settings) => boolean;

const standalone = value(OPTIONS.standalone, (isOn) => isOn);
const inMemory = value(OPTIONS.rdzvBackend, (backend) => backend === "memory");
const inStore = value(OPTIONS.rdzvBackend, (backend) => backend !== "memory");
const inEtcd = value(OPTIONS.rdzvBackend, (backend) => backend === "etcd");
const severalNodes = value(OPTIONS.nnodes, ({ max }) => max > 1);
const endpoint = given(OPTIONS.rdzvEndpoint);
const masterAddr = given(OPTIONS.masterAddr);
const masterPort = given(OPTIONS.masterPort);
const module = value(OPTIONS.module, (isOn) => isOn);
const asItIs = value(OPTIONS.noNode, (isOn) => isOn);

/** Pairs that exclude each other. From one source both are refused; from two sources the later one gives way. */
const EXCLUSIVE: readonly (readonly [Side, Side])[] = [
	...[inStore, endpoint, severalNodes, masterAddr, masterPort].map(
		(other) => [standalone, other] as const,
	),
	...[endpoint, severalNodes, masterAddr, masterPort].map(
		(other) => [inMemory, other] as const,
	),
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
	return EXCLUSIVE.some(
		([left, right]) =>
			(left(earlier) && right(one)) || (right(earlier) && left(one)),
	);
}

function given({ key }: Option<unknown>): Side {
	return (settings) => settings.has(key);
}

/** An invalid value is reported elsewhere; it excludes nothing. */
function value<T>(option: Option<T>, holds: (value: T) => boolean): Side {
	return (settings) => {
		const setting = settings.get(option.key);
		if (setting === undefined) return false;
		const parsed = option.parse(setting.text, setting.origin);
		return "value" in parsed && holds(parsed.value);
	};
}
