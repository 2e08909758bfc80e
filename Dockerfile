# The gateway as users get it: a compiled wheel with the browser client inside, installed in a virtual environment.
#
# NODE is any image with node >= 20 and npm, PYTHON any Debian image with python >= 3.11 and venv.
ARG NODE=node:22-slim
ARG PYTHON=python:3.12-slim

FROM ${NODE} AS web
WORKDIR /src/web
COPY web/package.json web/package-lock.json web/.npmrc ./
RUN npm ci --no-audit --no-fund
COPY web/ ./
RUN npm run build

# The wheel is compiled (docs/decisions/0127): Debian's Python has its headers in a package of their own.
FROM ${PYTHON} AS wheel
WORKDIR /src
RUN python3 -c 'import os, sysconfig; print("" if os.path.exists(sysconfig.get_path("include") + "/Python.h") else "python3-dev")' \
        >/tmp/headers \
    && apt-get update \
    && apt-get install -y --no-install-recommends gcc libc6-dev $(cat /tmp/headers) \
    && rm -rf /var/lib/apt/lists/* \
    && python3 -m venv /opt/build && python3 -m venv /opt/hawse
COPY requirements/ requirements/
RUN /opt/build/bin/pip install --no-cache-dir --no-deps --require-hashes \
        -r requirements/run.txt -r requirements/build.txt -r requirements/compile.txt \
    && /opt/hawse/bin/pip install --no-cache-dir --no-deps --require-hashes -r requirements/run.txt
COPY pyproject.toml hatch_build.py README.md CHANGELOG.md LICENSE ./
COPY hawse/ hawse/
COPY runtime/hawse_runtime/ runtime/hawse_runtime/
COPY gateway/hawse_gateway/ gateway/hawse_gateway/
COPY --from=web /src/gateway/hawse_gateway/_web/ gateway/hawse_gateway/_web/
RUN HAWSE_COMPILE=1 /opt/build/bin/pip wheel --no-cache-dir --no-deps --no-build-isolation --wheel-dir /dist . \
    && /opt/hawse/bin/pip install --no-cache-dir --no-deps /dist/*.whl

FROM ${PYTHON}
RUN apt-get update \
    && apt-get install -y --no-install-recommends binutils bubblewrap ca-certificates git openssh-client tini \
    && rm -rf /var/lib/apt/lists/* \
    && useradd --create-home hawse \
    && install -d -o hawse -g hawse /var/lib/hawse
COPY --from=wheel /opt/hawse /opt/hawse
ENV PATH=/opt/hawse/bin:$PATH
USER hawse
VOLUME /var/lib/hawse
EXPOSE 8080
# 0.0.0.0 is the container's own; what reaches it is for whoever publishes the port to say.
ENTRYPOINT ["tini", "--", "hawse"]
CMD ["serve", "--host", "0.0.0.0", "--port", "8080", "--state", "/var/lib/hawse"]
