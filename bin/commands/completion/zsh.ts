import type {
	CompletedCommand,
	CompletedCommandLine,
	CompletedFlag,
	CompletedValue,
} from "./completion-words.js";

export function zshCompletion({
	commands,
	flags,
}: CompletedCommandLine): string {
	return `#compdef elastic-run
# elastic-run completion for zsh: save it as _elastic-run in a directory of $fpath,
# or source it after compinit.
_elastic_run() {
	if ((CURRENT > 2)); then
		case $words[2] in
${commands.map(commandCase).join("\n")}
		esac
	fi
	# Nothing after the script is a flag of elastic-run.
	_arguments -S -A '-*' \\
${flags.flatMap(specsOf).map(specLine).join("\n")}
		'1: :_elastic_run_first' \\
		'*:: :_default'
}

_elastic_run_first() {
	local -a commands=(
${commands.map(({ name, help }) => `\t\t${quote(`${name}:${help}`)}`).join("\n")}
	)
	((CURRENT == 2)) && _describe command commands
	_command_names -e
	_files
}

if [[ $zsh_eval_context[-1] == loadautofunc ]]; then
	_elastic_run "$@"
else
	compdef _elastic_run elastic-run
fi
`;
}

function commandCase({ name, words }: CompletedCommand): string {
	return `\t\t${name}) compadd -- ${words.join(" ")}; return ;;`;
}

function specLine(spec: string): string {
	return `\t\t${quote(spec)} \\`;
}

/** The specs of a flag for _arguments, one per spelling. */
function specsOf({ name, short, help, value }: CompletedFlag): string[] {
	const meaning = help.replaceAll(/[[\]\\:]/g, "\\$&");
	if (value === undefined) {
		const letters = short === undefined ? [] : [`-${short}[${meaning}]`];
		return [`--${name}[${meaning}]`, ...letters];
	}
	const tail = `[${meaning}]:${value.title.replaceAll(":", "\\:")}:${actionOf(value)}`;
	const letters = short === undefined ? [] : [`-${short}${tail}`];
	return [`--${name}=${tail}`, ...letters];
}

function actionOf({ words, paths }: CompletedValue): string {
	if (paths === "directories") return "_files -/";
	if (words.length === 0) return paths === "files" ? "_files" : " ";
	const list = `(${words.join(" ")})`;
	return paths === "files"
		? ` _alternative "words:word:${list}" "files:file:_files"`
		: list;
}

function quote(text: string): string {
	return `'${text.replaceAll("'", "'\\''")}'`;
}
