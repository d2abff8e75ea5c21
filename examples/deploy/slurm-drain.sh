#!/bin/sh
# An option for Slurm: when this machine is drained, its launcher gets a notice.
# Start it in the background of each task, before the launcher:
#   gone=/tmp/drain-$SLURM_JOB_ID-${SLURM_RESTART_COUNT:-0}
#   slurm-drain.sh "$gone" & elastic-run --notices "slurm,file:$gone" …
# A job that is queued again has the same id: with a file of the last time it would
# leave at once, again and again.
# It ends with the job. Whatever scontrol says or fails with, it only asks again.
set -eu
file=$1
every=${2:-60}
node=${SLURMD_NODENAME:-$(hostname -s)}
while sleep "$every"; do
	# The first such word: the reason that an administrator gave may hold another.
	state=$(scontrol show node "$node" | tr ' ' '\n' | grep -m 1 '^State=') || continue
	case $state in
	*DRAIN*)
		# No deadline: Slurm waits for the job. The reason follows.
		printf '\nthe node is drained\n' > "$file.new"
		mv "$file.new" "$file"
		exit
		;;
	esac
done
