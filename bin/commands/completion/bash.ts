import type {
	CompletedCommand,
	CompletedCommandLine,
	CompletedFlag,
} from "./completion-words.js";

/** For bash 4.4 or newer; does not need the package bash-completion. */
export function bashCompletion({
	commands,
	flags,
}: CompletedCommandLine): string {
	const valued = flags.filter(({ value }) => value !== undefined);
	return `# elastic-run completion for bash: source it from ~/.bashrc.
_elastic_run() {
	local current=\${COMP_WORDS[COMP_CWORD]} flag= word index
	COMPREPLY=()
	for ((index = 1; index < COMP_CWORD; index++)); do
		word=\${COMP_WORDS[index]}
		# bash makes three words of --flag=value.
		[[ $word == = ]] && continue
		if [[ $flag ]]; then
			flag=
			continue
		fi
		case $index:$word in
${commands.map(commandCase).join("\n")}
		esac
		word=\${word//_/-}
		case $word in
		${valued.map(spellings).join(" | ")}) flag=$word ;;
		-*) ;;
		*)
			# All that follows the script is its own.
			compopt -o default
			return
			;;
		esac
	done
	[[ $current == = ]] && current=
	case $flag in
	"") ;;
${valued.flatMap(valueCase).join("\n")}
	*) return ;;
	esac
	if [[ $current == -* ]]; then
		_elastic_run_words "${flags.map(({ name }) => `--${name}`).join(" ")}"
		return
	fi
	local names=
	((COMP_CWORD == 1)) && names="${commands.map(({ name }) => name).join(" ")}"
	_elastic_run_words "$names" -f
}

# The words and (-f, -d) the files or directories that begin as what is typed.
_elastic_run_words() {
	[[ $# -gt 1 ]] && compopt -o filenames
	mapfile -t COMPREPLY < <(compgen -W "$1" "\${@:2}" -- "$current")
}

complete -F _elastic_run elastic-run
`;
}

function commandCase({ name, words }: CompletedCommand): string {
	return `\t\t1:${name}) _elastic_run_words "${words.join(" ")}"; return ;;`;
}

function spellings({ name, short }: CompletedFlag): string {
	return short === undefined ? `--${name}` : `--${name} | -${short}`;
}

function valueCase(flag: CompletedFlag): readonly string[] {
	const { words = [], paths = "none" } = flag.value ?? {};
	const option = { files: " -f", directories: " -d", none: "" }[paths];
	return words.length === 0 && paths === "none"
		? []
		: [
				`\t${spellings(flag)}) _elastic_run_words "${words.join(" ")}"${option}; return ;;`,
			];
}
