{{/*
The house: what each component is and whom it calls. Services, settings, network policies, certificates and workloads are made of this table, so an
arrow that is drawn here is opened everywhere, and one that is not is closed everywhere.

  program    what the image runs; `migrate` beside it where the component has a schema
  image      server | encoding
  ports      name: number; `grpc` is found by a headless service (callers go round robin), the others by an ordinary one
  calls      COMPONENT/PORT of others
  reaches    what lies outside of the house: database, redis, storage, mail, public (any address that is public)
  keys       of the secret of the house
  folders    data that it keeps: scratch (may be lost), spool (of one pod alone), objects (shared, when they are files)
*/}}
{{- define "vitascope.house" -}}
gateway:
  program: apps/gateway/src/main.ts
  image: server
  ports: { http: 8080, metrics: 9090 }
  calls: [auth/grpc, catalogue/grpc, encoding/grpc, encoding/upload, collaboration/grpc, analytics/grpc, delivery/http]
  reaches: [redis]
  keys: [principal-key]
web:
  program: apps/gateway/src/main.ts
  image: server
  ports: { http: 8080, metrics: 9090 }
  calls: [auth/grpc, catalogue/grpc, encoding/grpc, encoding/upload, collaboration/grpc, analytics/grpc, delivery/http]
  reaches: [redis]
  keys: [principal-key]
auth:
  program: apps/auth/src/main.ts
  migrate: apps/auth/src/migrate.ts
  image: server
  ports: { grpc: 50051, health: 9091, metrics: 9090 }
  calls: [catalogue/grpc]
  reaches: [database]
  keys: [principal-key, master-key, system-key]
catalogue:
  program: apps/catalogue/src/main.ts
  migrate: apps/catalogue/src/migrate.ts
  image: server
  ports: { grpc: 50051, health: 9091, metrics: 9090 }
  calls: [auth/grpc, encoding/grpc]
  reaches: [database, mail, public]
  keys: [principal-key, master-key, token-keys]
encoding:
  program: apps/encoding/src/main.ts
  migrate: apps/encoding/src/migrate.ts
  image: server
  ports: { grpc: 50051, upload: 8081, health: 9091, metrics: 9090 }
  calls: [catalogue/grpc]
  reaches: [database, storage, public]
  keys: [principal-key]
  folders: [scratch, objects]
worker:
  program: apps/encoding/src/worker/main.ts
  image: encoding
  ports: { metrics: 9090 }
  calls: [encoding/grpc]
  reaches: [storage]
  keys: [principal-key]
  folders: [scratch, objects]
delivery:
  program: apps/delivery/src/main.ts
  image: server
  ports: { http: 8080, metrics: 9090 }
  calls: [catalogue/grpc, encoding/grpc]
  reaches: [storage]
  keys: [principal-key, token-keys]
  folders: [objects]
collaboration:
  program: apps/collaboration/src/main.ts
  migrate: apps/collaboration/src/migrate.ts
  image: server
  ports: { grpc: 50051, health: 9091, metrics: 9090 }
  calls: [auth/grpc, catalogue/grpc]
  reaches: [database]
  keys: [principal-key]
analytics:
  program: apps/analytics/src/main.ts
  migrate: apps/analytics/src/migrate.ts
  image: server
  ports: { grpc: 50051, health: 9091, metrics: 9090 }
  calls: [catalogue/grpc]
  reaches: [database]
  keys: [principal-key]
  folders: [spool]
{{- end }}

{{/* The row of a component: (dict "root" $ "name" "auth"). */}}
{{- define "vitascope.row" -}}
{{- index (fromYaml (include "vitascope.house" .root)) .name | toYaml }}
{{- end }}

{{/* The names of the components that are deployed here, as {names: []}. */}}
{{- define "vitascope.enabled" -}}
{{- $enabled := list }}
{{- range $name, $_ := fromYaml (include "vitascope.house" .) }}
{{- if (index $.Values $name).enabled }}{{ $enabled = append $enabled $name }}{{ end }}
{{- end }}
{{- dict "names" $enabled | toYaml }}
{{- end }}

{{/* Who calls a port of a component, or any of them, as {names: []}: (dict "root" $ "name" "auth" "port" "grpc"). */}}
{{- define "vitascope.callers" -}}
{{- $callers := list }}
{{- $ports := hasKey . "port" | ternary (list (get . "port")) (list "grpc" "http" "upload") }}
{{- range $name, $row := fromYaml (include "vitascope.house" .root) }}
{{- range $ports }}
{{- if has (printf "%s/%s" $.name .) $row.calls }}{{ $callers = append $callers $name }}{{ end }}
{{- end }}
{{- end }}
{{- $callers = uniq $callers }}
{{- dict "names" $callers | toYaml }}
{{- end }}
