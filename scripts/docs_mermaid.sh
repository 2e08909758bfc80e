#!/bin/sh
# Creates build/docs/mermaid.min.js, which draws the diagrams of the documentation site, from the npm package, and
# checks its hash. The version must be compatible with the site's theme, whose script refers to mermaid 11.
set -eu
. "$(dirname "$0")/lib.sh"
cd "$(dirname "$0")/.."

VERSION=11.17.2
SHA512=57a2b70bc101744b0f1595d228c25eea9a50384371b87011afd1af1d7e21878ee501b84c443f6a7f8a042bb2e869143150b31af34feab798073bbdda0a578106

command -v npm >/dev/null 2>&1 || die "npm, which comes with Node, is required for the diagrams of the site."
mkdir -p build/docs
folder=$(mktemp -d build/docs/mermaid.XXXXXX)
trap 'rm -rf "$folder"' EXIT
say "downloading mermaid $VERSION for the diagrams of the site"
(cd "$folder" && npm pack --silent "mermaid@$VERSION" >/dev/null) ||
    die "cannot download mermaid $VERSION; is the npm registry reachable?"
echo "$SHA512  $folder/mermaid-$VERSION.tgz" | sha512sum --check --quiet - || die "mermaid $VERSION does not have the expected hash"
tar -xzf "$folder/mermaid-$VERSION.tgz" -C "$folder" package/dist/mermaid.min.js
mv "$folder/package/dist/mermaid.min.js" build/docs/mermaid.min.js
touch build/docs/mermaid.min.js
