# shellcheck shell=bash
# What scripts/chaos and scripts/soak share: they run a program of this folder on hosts and disks of its own.
PATH=$PATH:/usr/sbin:/sbin

fail() {
    echo "error: $*" >&2
    exit 1
}

chaos=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
[[ $(uname -s) == Linux ]] && ((EUID == 0)) || fail "making hosts and disks takes Linux and root; run this as root"
for tool in ip unshare mount python3; do
    command -v "$tool" >/dev/null || fail "$tool is missing; install it with apt-get"
done
export PYTHONDONTWRITEBYTECODE=1

# run_apart FILE ARGUMENT…: processes, mounts and networks of its own: with the first process all others end, and with the last one
# all mounts.
run_apart() {
    exec unshare --mount --pid --net --fork --kill-child --mount-proc bash -c \
        'mount -t tmpfs none /run && exec python3 "$0" "$@"' "$chaos/$1" "${@:2}"
}
