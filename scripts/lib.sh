# Shared by the scripts here: how they speak, and how they may install.

say() { echo "hawse: $*" >&2; }
die() { echo "hawse: $*" >&2; exit 1; }

# True where `apt_install` can work: Debian's tool, and the right to use it.
can_apt() { [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; }

# Installs Debian packages. Standard output stays free for the caller's own answer.
apt_install() {
    say "installing with apt-get: $*"
    export DEBIAN_FRONTEND=noninteractive
    apt-get update -q -o Acquire::Retries=3 </dev/null >&2 || say "apt-get update failed; trying with the lists at hand"
    apt-get install -y -q --no-install-recommends -o Acquire::Retries=3 "$@" </dev/null >&2
}
