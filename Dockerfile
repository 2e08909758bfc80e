# The gateway as users get it: a wheel with the browser client inside, installed on a slim Python.

FROM node:22-slim AS web
WORKDIR /src/web
COPY web/package.json web/package-lock.json web/.npmrc ./
RUN npm ci --no-audit --no-fund
COPY web/ ./
RUN npm run build

FROM python:3.12-slim AS wheel
WORKDIR /src
COPY requirements/build.txt requirements/
RUN pip install --no-cache-dir --require-hashes -r requirements/build.txt
COPY pyproject.toml hatch_build.py README.md CHANGELOG.md LICENSE ./
COPY hawse/ hawse/
COPY runtime/ runtime/
COPY gateway/ gateway/
COPY --from=web /src/gateway/_web/ gateway/_web/
RUN pip wheel --no-cache-dir --no-deps --no-build-isolation --wheel-dir /dist .

FROM python:3.12-slim
RUN apt-get update \
    && apt-get install -y --no-install-recommends bubblewrap ca-certificates git openssh-client tini \
    && rm -rf /var/lib/apt/lists/* \
    && useradd --create-home hawse \
    && install -d -o hawse -g hawse /var/lib/hawse
RUN --mount=type=bind,source=requirements,target=/requirements \
    pip install --no-cache-dir --require-hashes -r /requirements/run.txt
RUN --mount=type=bind,from=wheel,source=/dist,target=/dist \
    pip install --no-cache-dir --no-deps /dist/*.whl
USER hawse
VOLUME /var/lib/hawse
EXPOSE 8080
# 0.0.0.0 is the container's own; what reaches it is for whoever publishes the port to say.
ENTRYPOINT ["tini", "--", "hawse"]
CMD ["serve", "--host", "0.0.0.0", "--port", "8080", "--state", "/var/lib/hawse"]
