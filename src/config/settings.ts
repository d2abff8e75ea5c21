import type { Option, OptionWithDefault } from "./option.js";

/** One given value, as text in the command line's notation. */
export interface Setting {
	readonly text: string;
	/** Its place in messages: `--nnodes`, `environment ELASTIC_RUN_NNODES`, `x.yaml: nnodes`. */
	readonly place: string;
	/** Its source in the dry run: `flag`, `environment ELASTIC_RUN_NNODES`, `x.yaml`. */
	readonly origin: string;
}

export const EMPTY_VALUE =
	"is empty; give a value, or leave it out for the default";

export type Environment = Readonly<Record<string, string | undefined>>;

/** Settings by option key. */
export type Settings = ReadonlyMap<string, Setting>;

/** Receives problems, one line each. */
export type Report = (message: string) => void;

/** How messages name a setting that was not given. */
export type NameOf = (option: Option<unknown>) => string;

export interface SourceReading {
	readonly settings: Settings;
	readonly problems: readonly string[];
}

/** The settings of the environment, and warnings of variables without effect. */
export interface EnvironmentReading {
	readonly settings: Settings;
	readonly warnings: readonly string[];
}

/** Turns settings into values and reports each invalid one. */
export class SettingReader {
	readonly settings: Settings;
	private readonly report: Report;
	private readonly nameOf: NameOf;
	private readonly unsound = new Set<string>();

	constructor(settings: Settings, report: Report, nameOf: NameOf) {
		this.settings = settings;
		this.report = report;
		this.nameOf = nameOf;
	}

	/** The given value, or undefined if none was given or it is invalid. */
	given<T>(option: Option<T>): T | undefined {
		const setting = this.settings.get(option.key);
		if (setting === undefined) return undefined;
		if (setting.text === "") {
			return this.refuseValue(option, setting, [EMPTY_VALUE]);
		}
		const parsed = option.parse(setting.text, setting.origin);
		return "value" in parsed
			? parsed.value
			: this.refuseValue(option, setting, parsed.problems);
	}

	/** The given value if it is valid, else the default. */
	value<T>(option: OptionWithDefault<T>): T {
		return this.given(option) ?? option.defaultValue;
	}

	/** Whether none of these was refused: only then can they be compared. */
	sound(...options: readonly Option<unknown>[]): boolean {
		return options.every((option) => !this.unsound.has(option.key));
	}

	/** Reports a value that conflicts with other settings. */
	refuse(option: Option<unknown>, words: string): void {
		this.unsound.add(option.key);
		this.report(`${this.placeOf(option)}: ${words}`);
	}

	placeOf(option: Option<unknown>): string {
		return this.settings.get(option.key)?.place ?? this.nameOf(option);
	}

	/** The given text, if any. */
	textOf(option: Option<unknown>): string | undefined {
		return this.settings.get(option.key)?.text;
	}

	private refuseValue(
		option: Option<unknown>,
		setting: Setting,
		problems: readonly string[],
	): undefined {
		// A setting may be read more than once.
		if (!this.unsound.has(option.key)) {
			for (const words of problems) this.report(`${setting.place}: ${words}`);
		}
		this.unsound.add(option.key);
		return undefined;
	}
}
