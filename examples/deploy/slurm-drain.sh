#!/bin/sh
# An option for Slurm: when this machine is drained, its launcher gets a notice.
# Start it in the background of each task, before the launcher:
#   slurm-drain.sh /tmp/drain-$SLURM_JOB_ID & elastic-run --notices slurm,file:/tmp/drain-$SLURM_JOB_ID …
# It ends with the job.
set -eu
file=$1
every=${2:-60}
while sleep "$every"; do
	case $(scontrol show node "$SLURMD_NODENAME" | grep -o 'State=[^ ]*') in
	*DRAIN*)
		# No deadline: Slurm waits for the job. The reason follows.
		printf '\nthe node is drained\n' > "$file.new"
		mv "$file.new" "$file"
		exit
		;;
	esac
done
