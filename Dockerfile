# The dashboard for a department. How to run it: docs/pages/how-to/serve.md. Build it in the root of the source tree:
#     docker build --tag anoncore .
# .ci/plain-debian runs these steps in a plain Debian, where there are no images.

FROM python:3.11-slim-bookworm AS wheel
WORKDIR /source
COPY pyproject.toml README.md LICENSE ./
COPY .streamlit .streamlit
COPY anoncore anoncore
COPY dashboard dashboard
COPY datasets datasets
COPY docs/deployment/constraints-build.txt ./
COPY docs/deployment/constraints.txt /wheels/
# What builds the wheel is held to its SHA-256, too.
RUN python3 -m venv /build \
    && /build/bin/pip install --no-cache-dir --no-deps --require-hashes --requirement constraints-build.txt \
    && /build/bin/pip wheel --no-deps --no-build-isolation --wheel-dir /wheels .

FROM python:3.11-slim-bookworm
COPY --from=wheel /wheels /wheels
# Only files whose SHA-256 stands in the constraints are installed, and then anoncore, which needs nothing else.
RUN python3 -m venv /opt/anoncore \
    && /opt/anoncore/bin/pip install --no-cache-dir --no-deps --require-hashes --requirement /wheels/constraints.txt \
    && /opt/anoncore/bin/pip install --no-cache-dir --no-deps --no-index /wheels/anoncore-*.whl \
    && /opt/anoncore/bin/pip check
ENV PATH=/opt/anoncore/bin:$PATH

# Compiled for the kind of processor that builds the image; on another kind the server compiles again.
RUN NUMBA_CACHE_DIR=/opt/anoncore/compiled anoncore warm-up \
    && chmod -R a+rX /opt/anoncore/compiled

# Whoever serves owns what is kept, and nothing of the program.
RUN useradd --uid 10001 --user-group --home-dir /var/lib/anoncore --no-create-home --shell /usr/sbin/nologin anoncore \
    && install -d -m 0700 -o anoncore -g anoncore /var/lib/anoncore /var/lib/anoncore/workspaces /var/cache/anoncore
VOLUME ["/var/lib/anoncore"]
USER anoncore
WORKDIR /var/lib/anoncore

# Only a container may listen everywhere: who reaches its ports is up to the engine. Monitors ask from inside it.
ENV ANONCORE_SERVER_ADDRESS=0.0.0.0 \
    ANONCORE_SERVER_PORT=8501 \
    ANONCORE_METRICS_PORT=9464 \
    NUMBA_CACHE_DIR=/var/cache/anoncore
EXPOSE 8501
HEALTHCHECK --interval=30s --timeout=6s --start-period=60s --retries=3 CMD ["python3", "-c", "import http.client, os, sys; ask = http.client.HTTPConnection('127.0.0.1', int(os.environ['ANONCORE_METRICS_PORT']), timeout=5); ask.request('GET', '/health'); sys.exit(ask.getresponse().status != 200)"]

# The program only uses compiled code that it may also write, and the root may be read-only: so it gets a copy.
ENTRYPOINT ["/bin/sh", "-c", "cp -R /opt/anoncore/compiled/. \"$NUMBA_CACHE_DIR\" && exec anoncore \"$@\"", "anoncore"]
CMD ["dashboard", "--no-browser"]
