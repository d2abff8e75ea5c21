import type { Option, OptionWithDefault } from "./option.js";

/** One value that somebody gave, as text in the command line's notation. */
export interface Setting {
	readonly text: string;
	/** Where it stands, for messages: `--nnodes`, `environment ELASTIC_RUN_NNODES`, `x.yaml: nnodes`. */
	readonly place: string;
	/** Where it comes from, for the dry run: `flag`, `environment ELASTIC_RUN_NNODES`, `x.yaml`. */
	readonly origin: string;
}

/** What is wrong with a value that was given as nothing. */
export const EMPTY_VALUE =
	"is empty; give a value, or leave it out for the default";

/** Settings by option key. */
export type Settings = ReadonlyMap<string, Setting>;

/** Receives what is wrong, one line each. */
export type Report = (message: string) => void;

/** How messages call a setting that nobody gave. */
export type NameOf = (option: Option<unknown>) => string;

/** Each option's setting in the first source that has one. */
export function mergeSettings(sources: readonly Settings[]): Settings {
	return new Map([...sources].reverse().flatMap((source) => [...source]));
}

/** Settings of one source, and what is wrong with it. */
export interface SourceReading {
	readonly settings: Settings;
	readonly problems: readonly string[];
}

/** Turns settings into values and reports every one that is not valid. */
export class SettingReader {
	readonly #settings: Settings;
	readonly #report: Report;
	readonly #nameOf: NameOf;
	readonly #unsound = new Set<string>();

	constructor(settings: Settings, report: Report, nameOf: NameOf) {
		this.#settings = settings;
		this.#report = report;
		this.#nameOf = nameOf;
	}

	/** The value that was given, or undefined where none was, or none that is valid. */
	given<T>(option: Option<T>): T | undefined {
		const setting = this.#settings.get(option.key);
		if (setting === undefined) return undefined;
		if (setting.text === "") {
			return this.#refuse(option, setting, [EMPTY_VALUE]);
		}
		const parsed = option.parse(setting.text, setting.origin);
		return "value" in parsed
			? parsed.value
			: this.#refuse(option, setting, parsed.problems);
	}

	/** The value that was given, else the default; also where the one that was given is not valid. */
	value<T>(option: OptionWithDefault<T>): T {
		return this.given(option) ?? option.defaultValue;
	}

	/** Whether none of these was refused: only then are they worth comparing. */
	sound(...options: readonly Option<unknown>[]): boolean {
		return options.every((option) => !this.#unsound.has(option.key));
	}

	/** Reports what is wrong with a value in the light of others. */
	refuse(option: Option<unknown>, words: string): void {
		this.#unsound.add(option.key);
		this.#report(`${this.placeOf(option)}: ${words}`);
	}

	/** How messages call this setting. */
	placeOf(option: Option<unknown>): string {
		return this.#settings.get(option.key)?.place ?? this.#nameOf(option);
	}

	/** The text that was given, if any. */
	textOf(option: Option<unknown>): string | undefined {
		return this.#settings.get(option.key)?.text;
	}

	#refuse(
		option: Option<unknown>,
		setting: Setting,
		problems: readonly string[],
	): undefined {
		// A setting may be read more than once.
		if (!this.#unsound.has(option.key)) {
			for (const words of problems) this.#report(`${setting.place}: ${words}`);
		}
		this.#unsound.add(option.key);
		return undefined;
	}
}
