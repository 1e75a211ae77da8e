# Dependencies of the platform in a local test cluster, from Debian's packages. They replace images
# of a registry.
#   postgres  for the evaluation PostgreSQL of the chart, with the interface of the official image:
#   POSTGRES_DB, POSTGRES_PASSWORD_FILE, PGDATA, /docker-entrypoint-initdb.d/*.sql
#   redis     without persistence
#   objects   an S3 server over /objects
#   valkey, compose-objects   the same programs, with the entry points of the public images in
#   deploy/compose.yaml
ARG NODE_IMAGE
FROM ${NODE_IMAGE} AS postgres
RUN apt-get update \
 && apt-get install --yes --no-install-recommends postgresql-15 \
 && rm -rf /var/lib/apt/lists/* /var/cache/apt/archives /var/lib/postgresql \
 && mkdir -p /var/lib/postgresql \
 && useradd --uid 10001 --no-create-home database \
 && chown database /var/lib/postgresql /var/run/postgresql
ENV PATH=/usr/lib/postgresql/15/bin:/usr/local/bin:/usr/bin:/bin PGDATA=/var/lib/postgresql/15/data
COPY postgres.sh /usr/local/bin/
STOPSIGNAL SIGINT
USER 10001:10001
ENTRYPOINT ["sh", "/usr/local/bin/postgres.sh"]

FROM ${NODE_IMAGE} AS redis
RUN apt-get update \
 && apt-get install --yes --no-install-recommends redis-server \
 && rm -rf /var/lib/apt/lists/* /var/cache/apt/archives
USER 10001:10001
ENTRYPOINT ["redis-server", "--save", "", "--appendonly", "no", "--bind", "0.0.0.0", "--protected-mode", "no", "--dir", "/tmp"]

FROM ${NODE_IMAGE} AS objects
COPY versitygw /usr/local/bin/
USER 10001:10001
ENTRYPOINT ["versitygw", "--port", ":7070", "--health", "/health", "--quiet", "--keep-alive", "posix", "--sidecar", "/objects/sidecar", "/objects/buckets"]

FROM redis AS valkey
USER 0:0
RUN ln -s redis-server /usr/bin/valkey-server && ln -s redis-cli /usr/bin/valkey-cli
WORKDIR /data
# The public image listens on all interfaces.
ENTRYPOINT ["sh", "-c", "exec \"$@\" --protected-mode no --bind 0.0.0.0", "--"]

FROM ${NODE_IMAGE} AS compose-objects
RUN apt-get update \
 && apt-get install --yes --no-install-recommends wget \
 && rm -rf /var/lib/apt/lists/* /var/cache/apt/archives
COPY versitygw /usr/local/bin/
ENTRYPOINT ["versitygw"]
