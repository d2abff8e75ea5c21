import type {
	CompletedCommand,
	CompletedCommandLine,
	CompletedFlag,
} from "./completion-words.js";

export function fishCompletion({
	commands,
	flags,
}: CompletedCommandLine): string {
	const valued = flags.filter(({ value }) => value !== undefined);
	const takers = valued.flatMap(({ name, short }) =>
		short === undefined ? [`--${name}`] : [`--${name}`, `-${short}`],
	);
	return `# elastic-run completion for fish: save it as ~/.config/fish/completions/elastic-run.fish.
function __elastic_run_before_script
	set -l words (commandline -opc) (commandline -ct)
	set -l takes_value ${takers.join(" ")}
	set -l skip no
	for word in $words[2..-2]
		if test $skip = yes
			set skip no
		else if contains -- (string replace -a _ - -- $word) $takes_value
			set skip yes
		else if not string match -q -- '-*' $word
			return 1
		end
	end
	return 0
end

function __elastic_run_first
	test (count (commandline -opc)) -eq 1
end

function __elastic_run_command
	set -l words (commandline -opc)
	test "$words[2]" = $argv[1]
end

${commands.map(commandLine).join("\n")}
${flags.map(flagLine).join("\n")}
`;
}

function commandLine({ name, help, words }: CompletedCommand): string {
	return [
		`complete -c elastic-run -n __elastic_run_first -a ${name} -d ${quote(help)}`,
		`complete -c elastic-run -n '__elastic_run_command ${name}' -f -a ${quote(words.join(" "))}`,
	].join("\n");
}

function flagLine({ name, short, help, value }: CompletedFlag): string {
	const letter = short === undefined ? "" : ` -s ${short}`;
	const flag = `complete -c elastic-run -n __elastic_run_before_script -l ${name}${letter} -d ${quote(help)}`;
	if (value === undefined) return flag;
	const words =
		value.words.length === 0 ? "" : ` -a ${quote(value.words.join(" "))}`;
	if (value.paths === "directories") {
		return `${flag} -x -a '(__fish_complete_directories)'`;
	}
	return `${flag} ${value.paths === "files" ? "-r -F" : "-x"}${words}`;
}

function quote(text: string): string {
	return `'${text.replaceAll("\\", "\\\\").replaceAll("'", "\\'")}'`;
}
