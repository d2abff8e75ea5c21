#!/bin/sh
# Makes an etcd user that may use one run's keys and nothing else, and switches
# authentication on where it was off. Needs etcdctl, told by its own variables where
# etcd is and who asks (ETCDCTL_ENDPOINTS, ETCDCTL_USER, ETCDCTL_CACERT).
#
#   sh etcd-user.sh RUN_ID USER PASSWORD_FILE [ROOT_PASSWORD_FILE]
#
# The fourth file is needed once, where etcd has no user `root` yet.
set -eu
export ETCDCTL_API=3
run_id=$1 user=$2 password_file=$3 root_password_file=${4:-}

etcdctl role add "$user"
etcdctl role grant-permission "$user" readwrite --prefix=true "/elastic-run/$run_id/"
etcdctl user add "$user" --interactive=false < "$password_file"
etcdctl user grant-role "$user" "$user"

if [ -n "$root_password_file" ]; then
	etcdctl user add root --interactive=false < "$root_password_file"
	etcdctl user grant-role root root
	etcdctl auth enable
fi
