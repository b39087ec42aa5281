# Sluice in a small image. Build: docker build -t sluice .    Run: see compose.yaml
#
# tests/docker/chroot.sh runs the same steps without Docker: it understands FROM, WORKDIR, COPY, RUN,
# ENV, USER, HEALTHCHECK and ENTRYPOINT as they are used here, and nothing else.
FROM debian:bookworm-slim AS build
WORKDIR /src
RUN apt-get update && apt-get install -y --no-install-recommends gcc make pkg-config libc6-dev libmicrohttpd-dev libpq-dev libcjson-dev libcjose-dev libjansson-dev libssl-dev zlib1g-dev libzstd-dev
COPY Makefile .
COPY config config
COPY odata odata
COPY storage storage
COPY server server
RUN make all && make install DESTDIR=/out PREFIX=/usr/local && strip /out/usr/local/bin/sluice

FROM debian:bookworm-slim
RUN apt-get update && apt-get install -y --no-install-recommends libmicrohttpd12 libpq5 libcjson1 libcjose0 libjansson4 libssl3 zlib1g libzstd1 && rm -rf /var/lib/apt/lists/*
RUN useradd --system --uid 10001 --no-create-home --shell /usr/sbin/nologin sluice
COPY --from=build /out/usr/local/bin/sluice /usr/local/bin/sluice
ENV SLUICE_LISTEN=0.0.0.0:8080
EXPOSE 8080
USER 10001
HEALTHCHECK --interval=10s --timeout=3s --start-period=10s CMD ["/usr/local/bin/sluice", "--health-check"]
ENTRYPOINT ["/usr/local/bin/sluice"]
