# docker build -t tandem . ; docker run tandem web | worker
FROM python:3.11-slim

ENV PYTHONUNBUFFERED=1 PIP_NO_CACHE_DIR=1 HF_HUB_OFFLINE=1 TANDEM_HOME=/data TANDEM_BIND=0.0.0.0:8000
RUN apt-get update \
    && apt-get install -y --no-install-recommends libgomp1 \
    && rm -rf /var/lib/apt/lists/* \
    && useradd --create-home --uid 1000 tandem \
    && mkdir /data && chown tandem /data && chmod 700 /data
WORKDIR /app
COPY requirements.txt .
RUN pip install -r requirements.txt
COPY --chown=tandem manage.py ./
COPY --chown=tandem config config
COPY --chown=tandem annotation annotation
COPY --chown=tandem mtl_engine mtl_engine
COPY --chown=tandem analysis analysis
COPY --chown=tandem studies studies
USER tandem
VOLUME /data
EXPOSE 8000
HEALTHCHECK --interval=30s --timeout=5s CMD ["python", "manage.py", "health"]
ENTRYPOINT ["python", "manage.py", "container"]
CMD ["web"]
