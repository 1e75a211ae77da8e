#!/bin/sh
# Run once by the PostgreSQL image in an empty database. Creates a role and a schema for each
# service. No other role can access the schema.
set -eu
for service in auth catalogue encoding collaboration analytics; do
  url=$(cat "/run/secrets/$service-database-url")
  password=${url#*://*:}
  password=${password%%@*}
  psql --set ON_ERROR_STOP=1 --username "$POSTGRES_USER" --dbname "$POSTGRES_DB" --quiet <<SQL
create role vitascope_$service login password '$password';
create schema $service authorization vitascope_$service;
grant create on database $POSTGRES_DB to vitascope_$service;
SQL
done
