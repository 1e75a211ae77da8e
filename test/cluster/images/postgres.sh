#!/bin/sh
# Starts a PostgreSQL server. If PGDATA is empty, first creates a database cluster in it and runs the
# init scripts. While these run, the server does not listen on the network.
set -eu
if [ ! -s "$PGDATA/PG_VERSION" ]; then
  mkdir -p "$PGDATA"
  chmod 0700 "$PGDATA"
  # After a failed init script, the next start must fail too instead of serving half of the data.
  trap 'rm -f "$PGDATA/PG_VERSION"' EXIT
  initdb --username=postgres --pwfile="$POSTGRES_PASSWORD_FILE" --auth-local=trust --auth-host=scram-sha-256 --encoding=UTF8 --locale=C.UTF-8
  echo 'host all all all scram-sha-256' >>"$PGDATA/pg_hba.conf"
  pg_ctl --wait --options="-c listen_addresses=''" start
  createdb --username=postgres "$POSTGRES_DB"
  for file in /docker-entrypoint-initdb.d/*; do
    case $file in
    *.sql) psql --set ON_ERROR_STOP=1 --quiet --username=postgres --dbname="$POSTGRES_DB" --file="$file" ;;
    *.sh) sh "$file" ;;
    esac
  done
  pg_ctl --wait --mode=fast stop
  trap - EXIT
fi
exec postgres -c listen_addresses='*'
