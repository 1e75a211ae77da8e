#!/bin/sh
# Makes what deploy/compose.yaml keeps secret, in deploy/secrets or the folder given; what is there stays as it is.
set -eu
folder=${1:-$(dirname "$0")/../secrets}
mkdir -p "$folder"
# Others cannot enter the folder; the processes in the containers, which have another user, can read the files.
chmod 700 "$folder"
umask 022

random() { head -c 32 /dev/urandom | base64 | tr '+/' '-_' | tr -d '=\n'; }
make() { [ -s "$folder/$1" ] || { printf '%s\n' "$2" > "$folder/$1.new" && mv "$folder/$1.new" "$folder/$1"; }; }

for name in postgres-password principal-key master-key system-key s3-access-key-id s3-secret-key; do make "$name" "$(random)"; done
make token-keys "[{\"kid\":\"$(random | cut -c 1-12)\",\"secret\":\"$(random)\"}]"
make valkey-url "redis://valkey:6379"
for service in auth catalogue encoding collaboration analytics; do
  make "$service-database-url" "postgres://vitascope_$service:$(random)@postgres:5432/vitascope"
done
# Those of a backup, put here before, too.
chmod 644 "$folder"/*
