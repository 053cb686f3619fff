# The Action's image: the scanner, its two dependencies and the git binary on a slim Python. No compiler, no package
# manager caches, no SDK of any provider, no history. docs/adr/0010-image-base-digest.md says how the base is pinned.
ARG BASE=python:3.13.9-slim-trixie

FROM ${BASE} AS build
# git is only copied as a binary (below), so its version is the one of the base's Debian release.
# hadolint ignore=DL3008
RUN apt-get update \
    && apt-get install --yes --no-install-recommends git \
    && rm -rf /var/lib/apt/lists/*
RUN python3 -m venv --without-pip /opt/dowbench
COPY requirements-image.txt /build/
RUN python3 -m pip --python /opt/dowbench/bin/python install --no-cache-dir --no-compile --no-deps \
      --only-binary :all: --require-hashes --requirement /build/requirements-image.txt
COPY dowbench /build/dowbench
COPY rules /build/dowbench/data/rules
# Compiled here and never checked against the source again: the root file system may be read-only.
RUN site="$(/opt/dowbench/bin/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')" \
    && mv /build/dowbench "${site}/" \
    && /opt/dowbench/bin/python -m compileall -q --invalidation-mode unchecked-hash "${site}"

FROM ${BASE}
ARG VERSION=0.0.0
ARG REVISION=unknown
ARG BASE
LABEL org.opencontainers.image.title="dowbench" \
      org.opencontainers.image.description="Finds LLM agent tool definitions that can run up the bill" \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.source="https://github.com/dowbench/dowbench" \
      org.opencontainers.image.documentation="https://github.com/dowbench/dowbench#readme" \
      org.opencontainers.image.version="${VERSION}" \
      org.opencontainers.image.revision="${REVISION}" \
      org.opencontainers.image.base.name="${BASE}"
# Enough for ls-files, rev-parse and cat-file, which is all that is asked of it; nothing that reaches a network.
COPY --from=build /usr/bin/git /usr/bin/git
COPY --from=build /opt/dowbench /opt/dowbench
WORKDIR /src
# Isolated mode: neither the scanned folder nor a PYTHON* variable decides what is imported.
ENTRYPOINT ["/opt/dowbench/bin/python", "-I", "-m", "dowbench"]
CMD ["scan"]
