{{/*
Table of components: what each one runs and which ports of others it calls. Services, settings,
network policies, certificates and workloads are generated from this table. A connection that is
listed here is therefore allowed everywhere, and any other connection is denied.

  program    program of the image; components with a schema also run `migrate`
  image      server | encoding
  ports      name: number; `grpc` has a headless Service (round robin), others an ordinary one
  calls      COMPONENT/PORT of others
  egress     outside systems: database, redis, storage, mail, oidc, public (any public address)
  secrets    keys of the platform's secret that it mounts, besides its own signing key
  volumes    scratch (may be lost), spool (one per pod), objects (shared, if stored as files)
*/}}
{{- define "vitascope.components" -}}
gateway:
  program: apps/gateway/src/main.ts
  image: server
  ports: { http: 8080, metrics: 9090 }
  calls: [auth/grpc, catalogue/grpc, encoding/grpc, encoding/upload, collaboration/grpc, analytics/grpc, delivery/http]
  egress: [redis]
  secrets: [idempotency-hash-key]
web:
  program: apps/gateway/src/main.ts
  image: server
  ports: { http: 8080, metrics: 9090 }
  calls: [auth/grpc, catalogue/grpc, encoding/grpc, encoding/upload, collaboration/grpc, analytics/grpc, delivery/http]
  egress: [redis]
  secrets: [idempotency-hash-key]
auth:
  program: apps/auth/src/main.ts
  migrate: apps/auth/src/migrate.ts
  image: server
  ports: { grpc: 50051, health: 9091, metrics: 9090 }
  calls: [catalogue/grpc]
  egress: [database, oidc]
  secrets: [master-key, system-key]
catalogue:
  program: apps/catalogue/src/main.ts
  migrate: apps/catalogue/src/migrate.ts
  image: server
  ports: { grpc: 50051, health: 9091, metrics: 9090 }
  calls: [auth/grpc, encoding/grpc]
  egress: [database, mail, public]
  secrets: [master-key, token-keys]
encoding:
  # Forms and parts of uploads are short-lived: a small young generation keeps their garbage small.
  nodeOptions: [--max-semi-space-size=4]
  program: apps/encoding/src/main.ts
  migrate: apps/encoding/src/migrate.ts
  image: server
  ports: { grpc: 50051, upload: 8081, health: 9091, metrics: 9090 }
  calls: [catalogue/grpc]
  egress: [database, storage, public]
  secrets: [upload-signing-key]
  volumes: [scratch, objects]
worker:
  program: apps/encoding/src/worker/main.ts
  image: encoding
  ports: { metrics: 9090 }
  calls: [encoding/grpc]
  egress: [storage]
  secrets: []
  volumes: [scratch, objects]
delivery:
  program: apps/delivery/src/main.ts
  image: server
  # `public` serves viewers, if `delivery.direct` is set.
  ports: { http: 8080, public: 8082, metrics: 9090 }
  calls: [catalogue/grpc, encoding/grpc]
  egress: [storage]
  secrets: [token-keys]
  volumes: [objects]
collaboration:
  program: apps/collaboration/src/main.ts
  migrate: apps/collaboration/src/migrate.ts
  image: server
  ports: { grpc: 50051, health: 9091, metrics: 9090 }
  calls: [auth/grpc, catalogue/grpc]
  egress: [database]
  secrets: []
analytics:
  program: apps/analytics/src/main.ts
  migrate: apps/analytics/src/migrate.ts
  image: server
  ports: { grpc: 50051, health: 9091, metrics: 9090 }
  calls: [catalogue/grpc]
  egress: [database]
  secrets: []
  volumes: [spool]
{{- end }}

{{/* Returns the row of a component: (dict "root" $ "name" "auth"). */}}
{{- define "vitascope.row" -}}
{{- $row := index (fromYaml (include "vitascope.components" .root)) .name }}
{{- if and (eq .name "delivery") (not .root.Values.delivery.direct) }}{{ $_ := unset $row.ports "public" }}{{ end }}
{{- toYaml $row }}
{{- end }}

{{/* Returns the names of the enabled components, as {names: []}. */}}
{{- define "vitascope.enabled" -}}
{{- $enabled := list }}
{{- range $name, $_ := fromYaml (include "vitascope.components" .) }}
{{- if (index $.Values $name).enabled }}{{ $enabled = append $enabled $name }}{{ end }}
{{- end }}
{{- dict "names" $enabled | toYaml }}
{{- end }}

{{/*
Returns the components that call a port of a component, or any of its ports, as {names: []}: (dict
"root" $ "name" "auth" "port" "grpc").
*/}}
{{- define "vitascope.callers" -}}
{{- $callers := list }}
{{- $ports := hasKey . "port" | ternary (list (get . "port")) (list "grpc" "http" "upload") }}
{{- range $name, $row := fromYaml (include "vitascope.components" .root) }}
{{- range $ports }}
{{- if has (printf "%s/%s" $.name .) $row.calls }}{{ $callers = append $callers $name }}{{ end }}
{{- end }}
{{- end }}
{{- $callers = uniq $callers }}
{{- dict "names" $callers | toYaml }}
{{- end }}

{{/*
Returns the service name that signs the calls of a component: (dict "name" "web"). Its keys are
NAME.key (private) and NAME.pub in the platform's secret.
*/}}
{{- define "vitascope.signer" -}}
{{- eq .name "web" | ternary "gateway" .name }}
{{- end }}

{{/*
Returns the services whose calls a component accepts, as {names: []}. Empty for components without
gRPC.
*/}}
{{- define "vitascope.signersOfCallers" -}}
{{- $signers := list }}
{{- if hasKey (fromYaml (include "vitascope.row" .)).ports "grpc" }}
{{- range (fromYaml (include "vitascope.callers" .)).names }}{{ $signers = append $signers (include "vitascope.signer" (dict "name" .)) }}{{ end }}
{{- end }}
{{- dict "names" (uniq $signers) | toYaml }}
{{- end }}

{{/* Returns all services that sign calls, as {names: []}. */}}
{{- define "vitascope.signers" -}}
{{- $signers := list }}
{{- range $name, $_ := fromYaml (include "vitascope.components" .) }}{{ $signers = append $signers (include "vitascope.signer" (dict "name" $name)) }}{{ end }}
{{- dict "names" ($signers | uniq | sortAlpha) | toYaml }}
{{- end }}
