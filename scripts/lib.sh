# Functions shared by the scripts: messages and package installation.

say() { echo "hawse: $*" >&2; }
die() { echo "hawse: $*" >&2; exit 1; }

# Succeeds if `apt_install` can work: apt-get exists and the user is root.
can_apt() { [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; }

# Installs Debian packages. Writes only to standard error, because callers print results to standard output.
apt_install() {
    say "installing with apt-get: $*"
    export DEBIAN_FRONTEND=noninteractive
    apt-get update -q -o Acquire::Retries=3 </dev/null >&2 || say "apt-get update failed; trying with the existing package lists"
    apt-get install -y -q --no-install-recommends -o Acquire::Retries=3 "$@" </dev/null >&2
}
