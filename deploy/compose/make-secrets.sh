#!/bin/sh
# Creates the secrets of deploy/compose.yaml in deploy/secrets or in the given folder. Existing
# files are kept.
set -eu
folder=${1:-$(dirname "$0")/../secrets}
command -v openssl > /dev/null || { echo "make-secrets.sh needs openssl (1.1.1 or later): install it" >&2; exit 1; }
mkdir -p "$folder/public-keys"
# Other users cannot enter the folder. The processes in the containers, which run as another user,
# can read the files.
chmod 700 "$folder"
umask 022

random() { head -c 32 /dev/urandom | base64 | tr '+/' '-_' | tr -d '=\n'; }
make() { [ -s "$folder/$1" ] || { printf '%s\n' "$2" > "$folder/$1.new" && mv "$folder/$1.new" "$folder/$1"; }; }

for name in postgres-password master-key system-key upload-signing-key idempotency-hash-key s3-access-key-id s3-secret-key; do
  make "$name" "$(random)"
done
# The two keys above belong to the owner of the object store. Each component has its own secret key.
for name in encoding worker delivery backup; do
  make "$name-s3-secret-key" "$(random)"
done
make token-keys "[{\"kid\":\"$(random | cut -c 1-12)\",\"secret\":\"$(random)\"}]"
make valkey-url "redis://valkey:6379"
for service in auth catalogue encoding collaboration analytics; do
  make "$service-database-url" "postgres://vitascope_$service:$(random)@postgres:5432/vitascope"
done
# Each service signs its calls with its own key. The others have the public key.
for service in gateway auth catalogue encoding worker delivery collaboration analytics; do
  make "$service-signing-key" "$(openssl genpkey -algorithm ed25519)"
  make "public-keys/$service.pub" "$(openssl pkey -in "$folder/$service-signing-key" -pubout)"
done
# Common key of all services in older versions.
rm -f "$folder/principal-key"
# Also the keys of a backup that were put here before.
find "$folder" -type f -exec chmod 644 {} +
