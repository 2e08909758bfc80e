#!/bin/sh
# Builds the images for the gateway and for its sandboxes from any base images, for example from your own registry, or
# created with debootstrap and `docker import`.
#
#   scripts/build_images.sh [BASE [PYTHON [NODE]]]
#
# BASE    base of sandboxes: any Debian or Ubuntu image                    (default: debian:bookworm-slim)
# PYTHON  base of the gateway: any Debian image with Python >= 3.11, venv  (default: python:3.12-slim)
# NODE    builds the browser client: any image with Node >= 20 and npm     (default: node:22-slim)
#
# BUILD_OPTIONS contains additional options for `docker build`, such as `--network host`.
set -eu
cd "$(dirname "$0")/.."

# shellcheck disable=SC2086  # options are separated by spaces
docker build ${BUILD_OPTIONS:-} --build-arg BASE="${1:-debian:bookworm-slim}" -t hawse-sandbox deploy/images/sandbox
# shellcheck disable=SC2086
docker build ${BUILD_OPTIONS:-} --build-arg PYTHON="${2:-python:3.12-slim}" --build-arg NODE="${3:-node:22-slim}" \
    -t hawse-gateway .
