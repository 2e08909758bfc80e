#!/bin/sh
# Builds the images of the gateway and of its sandboxes from any base images: for your own registry, or for bases that
# were created with debootstrap and `docker import`.
#
#   scripts/build_images.sh [BASE [PYTHON [NODE]]]
#
# BASE    of sandboxes: any Debian or Ubuntu image                 (debian:bookworm-slim)
# PYTHON  of the gateway: any Debian image with python >= 3.11 and venv   (python:3.12-slim)
# NODE    builds the browser client: any image with node >= 20 and npm    (node:22-slim)
#
# BUILD_OPTIONS are more options of `docker build`, such as `--network host`.
set -eu
cd "$(dirname "$0")/.."

# shellcheck disable=SC2086  # options are separated by spaces
docker build ${BUILD_OPTIONS:-} --build-arg BASE="${1:-debian:bookworm-slim}" -t hawse-sandbox deploy/images/sandbox
# shellcheck disable=SC2086
docker build ${BUILD_OPTIONS:-} --build-arg PYTHON="${2:-python:3.12-slim}" --build-arg NODE="${3:-node:22-slim}" \
    -t hawse-gateway .
