import { OWNER_FILE } from "../channel/index.js";

/**
 * The guard's script: plain POSIX sh, so that dash, bash and busybox accept it. It reads lines from the agent: `+GROUP`,
 * `-GROUP`, `bye`. However the agent ends, its pipe closes; the guard then ends everything that the agent started.
 *
 * Its environment: `root` is the agent's channel directory. The guard removes it if the agent ended without `bye`, unless
 * another agent has taken it. `mark_name` and `mark_value` are the two parts of the mark in every worker's environment.
 * `last_word`, if set, is what it writes to descriptor 3 once the agent has ended without `bye` and certainly nothing of it
 * is left. `replaced` says that another guard has taken its place.
 */
export const GUARD_SCRIPT = `
marker="$mark_name=$mark_value"
groups=' ' clean=
owner() { [ -r "$root/${OWNER_FILE}" ] && head -n 1 "$root/${OWNER_FILE}"; }
owned=$(owner)
trap '' HUP INT QUIT TERM PIPE

# A line that the agent did not finish is not taken: it may be part of a number.
while IFS= read -r line; do
	group=\${line#?}
	case $line in
	+*) groups="$groups$group " ;;
	-*) case $groups in
		*" $group "*) groups="\${groups%%" $group "*} \${groups#*" $group "}" ;;
		esac ;;
	bye) clean=yes && break ;;
	replaced) exit ;;
	esac
done

for group in $groups; do
	[ "$group" -gt 1 ] && kill -KILL "-$group"
done

# The grep of some busyboxes reads an environment up to its first NUL only.
if printf 'a\\0b' | grep -qF b; then
	marked() { grep -lsF -e "$marker" /proc/[0-9]*/environ; }
else
	marked() {
		for file in /proc/[0-9]*/environ; do
			tr '\\0' '\\n' <"$file" | grep -qF -e "$marker" && echo "$file"
		done
	}
fi

# Finds who left its group, or was spawned and not yet made known.
sweep() {
	found=
	for file in $(marked); do
		pid=\${file#/proc/} pid=\${pid%/environ}
		[ "$pid" != $$ ] && kill "-$1" "$pid" && found=yes
	done
}

# A container may show the /proc of its host, whose pids mean other processes here.
if read -r self rest </proc/self/stat && [ "$self" = $$ ]; then
	if [ "$clean" ]; then
		sweep TERM
		[ "$found" ] && sleep 1
	fi
	# Twice nobody: between fork and exec a process has no mark yet.
	nobody=0 pass=0
	while [ $nobody -lt 2 ] && [ $pass -lt 100 ]; do
		sweep KILL
		if [ "$found" ]; then nobody=0; else nobody=$((nobody + 1)); fi
		pass=$((pass + 1))
		[ $nobody -lt 2 ] && { sleep 0.05 || sleep 1; }
	done
	[ $nobody -lt 2 ] || [ "$clean" ] || [ -z "$last_word" ] || printf '%s' "$last_word" >&3
fi

[ "$clean" ] || [ "$(owner)" != "$owned" ] || rm -rf -- "$root" || { chmod -R u+rwx -- "$root"; rm -rf -- "$root"; }
`;
