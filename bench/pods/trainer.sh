# The trainer of a pod: on its first try it works, and the one of pod 1 fails once all have
# begun. A second try succeeds at once. $POD_MARKS/started-<pod> has a time for each start.
date +%s%N >> "$POD_MARKS/started-$POD_INDEX"
[ "$(wc -l < "$POD_MARKS/started-$POD_INDEX")" -gt 1 ] && exit 0
[ "$POD_INDEX" = 1 ] || exec sleep 600
until [ -s "$POD_MARKS/started-0" ]; do sleep 0.02; done
date +%s%N > "$POD_MARKS/failed"
exit 3
