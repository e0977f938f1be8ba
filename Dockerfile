# docker build -t tandem . ; docker run tandem web | worker
FROM python:3.11-slim@sha256:9c900dea9e8fb7e16277c179b555cc72d29a352dbc33cff48ad5a0412fd5bfc7

ENV PYTHONUNBUFFERED=1 PIP_NO_CACHE_DIR=1 TANDEM_HOME=/data TANDEM_BIND=0.0.0.0:8000
RUN apt-get update \
    && apt-get install -y --no-install-recommends libgomp1 \
    && rm -rf /var/lib/apt/lists/* \
    && useradd --create-home --uid 1000 tandem \
    && mkdir /data && chown tandem /data && chmod 700 /data
WORKDIR /app
COPY requirements.lock requirements-torch.lock requirements-torch-cpu.lock ./
RUN pip install --require-hashes --no-deps -r requirements.lock \
    && (pip install --require-hashes --no-deps -r requirements-torch-cpu.lock \
        || pip install --require-hashes --no-deps -r requirements-torch.lock)
COPY . /source
RUN pip install --no-deps /source && rm -rf /source
USER tandem
VOLUME /data
EXPOSE 8000
HEALTHCHECK --interval=30s --timeout=5s --start-period=60s CMD ["tandem", "health"]
ENTRYPOINT ["tandem", "container"]
CMD ["web"]
