#!/bin/sh
# The worker of worker.c for machines without a C compiler. It takes milliseconds
# to start, and prints less; the figures say that it was used.
marks=$1 mode=$2

mark() {
	echo "$1 $(date +%s%N) $$" >>"$marks"
}

wait_for_all() {
	while [ "$(wc -l <"$marks")" -lt "$WORLD_SIZE" ]; do sleep 0.01; done
}

wait_for_signal() {
	while :; do
		sleep 1000 &
		wait $!
	done
}

[ "$mode" = stubborn ] && [ "$RANK" != 0 ] && trap '' TERM
[ "$mode" = wait ] && trap 'kill $!; exit 0' USR1
mark start
case $mode in
exit) ;;
wait) wait_for_signal ;;
finish)
	wait_for_all
	sleep 0.5
	mark end
	;;
fail-once | stubborn)
	[ "$TORCHELASTIC_RESTART_COUNT" -gt 0 ] && exit 0
	[ "$RANK" = 0 ] || wait_for_signal
	wait_for_all
	sleep 0.3
	mark end
	exit 1
	;;
*) exit 2 ;;
esac
