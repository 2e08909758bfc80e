#!/bin/sh
# Makes build/docs/mermaid.min.js, which draws the diagrams of the documentation site, from the npm package, checked by
# hash. The version is one that the theme of the site works with: its own script names mermaid 11.
set -eu
. "$(dirname "$0")/lib.sh"
cd "$(dirname "$0")/.."

VERSION=11.17.2
SHA512=57a2b70bc101744b0f1595d228c25eea9a50384371b87011afd1af1d7e21878ee501b84c443f6a7f8a042bb2e869143150b31af34feab798073bbdda0a578106

command -v npm >/dev/null 2>&1 || die "needs npm, which comes with Node, for the diagrams of the site."
mkdir -p build/docs
folder=$(mktemp -d build/docs/mermaid.XXXXXX)
trap 'rm -rf "$folder"' EXIT
say "getting mermaid $VERSION for the diagrams of the site"
(cd "$folder" && npm pack --silent "mermaid@$VERSION" >/dev/null) ||
    die "could not get mermaid $VERSION: is the registry of npm reachable?"
echo "$SHA512  $folder/mermaid-$VERSION.tgz" | sha512sum --check --quiet - || die "mermaid $VERSION is not what it was"
tar -xzf "$folder/mermaid-$VERSION.tgz" -C "$folder" package/dist/mermaid.min.js
mv "$folder/package/dist/mermaid.min.js" build/docs/mermaid.min.js
touch build/docs/mermaid.min.js
