#!/bin/sh
# release.sh VERSION: creates a release of the current commit. Sets the version, moves the "Unreleased" changes in the
# CHANGELOG to it, builds dist/ (sdist, pure wheel, npm package, and compiled wheels, which need a C compiler), commits
# and tags. Does not push, but prints the command for that. VERSION has the form 1.2.3 or 1.2.3rc1.
set -eu
. "$(dirname "$0")/lib.sh"
cd "$(dirname "$0")/.."
version=${1:-}

echo "$version" | grep -Eqx '[0-9]+\.[0-9]+\.[0-9]+((a|b|rc)[0-9]+)?' ||
    die "invalid version '$version'. Use the form 1.2.3 or 1.2.3rc1: make release VERSION=1.2.3"
[ -z "$(git status --porcelain)" ] || die "the working tree has uncommitted changes. Commit or stash them first."
! git rev-parse -q --verify "refs/tags/v$version" >/dev/null || die "the tag v$version already exists."
changes=$(sed -n '/^## \[Unreleased\]/,/^## \[[0-9]/p' CHANGELOG.md | grep -c '^- ') || die "CHANGELOG.md lists no changes under [Unreleased]."

# If a later step fails, the files are restored; the commit is one of the last steps.
tagged="deploy/kubernetes/gateway.yaml deploy/kubernetes/kubernetes.toml docs/deploy/kubernetes.md docs/sandboxes.md" # name images
trap 'git checkout -q -- hawse/__init__.py web/package.json web/package-lock.json CHANGELOG.md $tagged' EXIT
old=$(sed -n 's/^__version__ = "\(.*\)"/\1/p' hawse/__init__.py)
sed -i "s/\(hawse\|hawse-runtime\|newTag\)\(: \{0,1\}\)$old\b/\1\2$version/g" $tagged
sed -i "s/^__version__ = .*/__version__ = \"$version\"/" hawse/__init__.py
sed -i "1,/\"version\"/s/\"version\": \"[^\"]*\"/\"version\": \"$version\"/" web/package.json
sed -i "1,10s/\"version\": \"[^\"]*\"/\"version\": \"$version\"/" web/package-lock.json # the package itself, named twice
sed -i "s/^## \[Unreleased\]/&\n\n## [$version] - $(date -u +%Y-%m-%d)/" CHANGELOG.md

make build wheels
git commit -qam "Release $version"
trap - EXIT
git tag -a "v$version" -m "hawse $version"
say "created v$version with $changes changes; dist/ contains the distributions. To publish: git push --follow-tags"
