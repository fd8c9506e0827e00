# The image of Glasshouse: `docker build -t glasshouse .`
#
# `cargo xtask dist --check` tries the last stage without a container engine. docs/operate/install.md says how to use it.

FROM node:22-bookworm-slim AS web
WORKDIR /src/web
COPY web/package.json web/package-lock.json ./
RUN npm ci --no-audit --no-fund
COPY web ./
# The web app shows it.
COPY docs /src/docs
RUN npm run build

FROM rust:1.95-bookworm AS build
WORKDIR /src
COPY Cargo.toml Cargo.lock config.example.toml ./
COPY crates ./crates
# Cargo reads the manifest of every package of the workspace.
COPY examples/rust ./examples/rust
COPY --from=web /src/web/dist ./web/dist
ENV GLASSHOUSE_BUILD_WEB=0
RUN cargo build --locked --profile dist --bin glasshouse --features glasshouse/graph-database

FROM debian:bookworm-slim
# More for the programs of agents: --build-arg PACKAGES="python3-matplotlib texlive-latex-base latexmk"
ARG PACKAGES=""
RUN apt-get update \
    && apt-get install -y --no-install-recommends ca-certificates python3 \
        git tesseract-ocr tesseract-ocr-ara tesseract-ocr-chi-sim tesseract-ocr-deu tesseract-ocr-eng tesseract-ocr-fra \
        tesseract-ocr-jpn tesseract-ocr-kor tesseract-ocr-osd tesseract-ocr-por tesseract-ocr-rus tesseract-ocr-spa \
        $PACKAGES \
    && rm -rf /var/lib/apt/lists/* \
    && groupadd --system --gid 10001 glasshouse \
    && useradd --system --uid 10001 --gid 10001 --home-dir /data --shell /usr/sbin/nologin glasshouse \
    && install -d -o glasshouse -g glasshouse -m 0700 /data
COPY --from=build /src/target/dist/glasshouse /usr/local/bin/glasshouse
ENV GLASSHOUSE_DATA_DIR=/data GLASSHOUSE_LISTEN=0.0.0.0:8000
EXPOSE 8000
VOLUME /data
WORKDIR /data
# By number, so that whoever runs it can tell that it is not root.
USER 10001:10001
HEALTHCHECK --interval=30s --timeout=5s --start-period=60s CMD ["glasshouse", "health"]
ENTRYPOINT ["glasshouse"]
CMD ["serve"]
