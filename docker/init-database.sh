#!/bin/sh
# Run once by the PostgreSQL image, as its superuser, when the data volume is new: the two logins of the service.
# commonplace_owner owns the database and migrates it; commonplace_app owns nothing, so row-level security binds it.
set -eu

psql --no-psqlrc --quiet --set ON_ERROR_STOP=1 --username "${POSTGRES_USER:-postgres}" --dbname postgres \
    --set owner_password="$DATABASE_OWNER_PASSWORD" --set app_password="$DATABASE_PASSWORD" <<'SQL'
CREATE ROLE commonplace_owner LOGIN CREATEDB NOSUPERUSER NOCREATEROLE NOBYPASSRLS PASSWORD :'owner_password';
CREATE ROLE commonplace_app LOGIN NOCREATEDB NOSUPERUSER NOCREATEROLE NOBYPASSRLS PASSWORD :'app_password';
GRANT commonplace_app TO commonplace_owner;
CREATE DATABASE commonplace OWNER commonplace_owner;
\connect commonplace
CREATE EXTENSION IF NOT EXISTS vector;
SQL
