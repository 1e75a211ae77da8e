{{/*
Settings of a component's process, as NAME: value: common settings, its own settings, and
`settings` of the values. Secrets appear only as file names.
*/}}
{{- define "vitascope.settings" -}}
{{- $row := fromYaml (include "vitascope.row" .) }}
{{- $settings := merge
      (fromYaml (include "vitascope.settingsOfAll" (dict "root" .root "name" .name "row" $row)))
      (fromYaml (include (printf "vitascope.settingsOf.%s" .name) .)) }}
{{- range $setting, $value := (index .root.Values .name).settings }}{{ $_ := set $settings $setting $value }}{{ end }}
{{- range $setting, $value := $settings }}
{{- if ne (toString $value) "" }}
{{ $setting }}: {{ include "vitascope.toText" $value | quote }}
{{- end }}
{{- end }}
{{- end }}

{{/* Converts a value to text. Large integers of YAML would otherwise become 2.1e+10. */}}
{{- define "vitascope.toText" -}}
{{- if and (kindIs "float64" .) (eq (floor .) .) }}{{ printf "%.0f" . }}{{ else }}{{ toString . }}{{ end }}
{{- end }}

{{/* Converts a Kubernetes quantity such as 20Gi to bytes; 0 for other formats. */}}
{{- define "vitascope.bytes" -}}
{{- $text := include "vitascope.toText" . }}
{{- $factors := dict "one" 1 "k" 1e3 "M" 1e6 "G" 1e9 "T" 1e12 "Ki" 1024 "Mi" 1048576 "Gi" 1073741824 "Ti" 1099511627776 "P" 1e15 "E" 1e18 "Pi" 1125899906842624 "Ei" 1152921504606846976 }}
{{- $unit := regexReplaceAll "^[0-9.]+" $text "" | default "one" }}
{{- printf "%.0f" (mulf (regexFind "^[0-9.]+" $text | float64) (get $factors $unit | default 0 | float64)) }}
{{- end }}

{{/*
Scratch space for tasks of a worker: 5 % less than its volume, because the pod is evicted when the
volume is full.
*/}}
{{- define "vitascope.scratchBytes" -}}
{{- printf "%.0f" (floor (mulf 0.95 (include "vitascope.bytes" .Values.worker.scratch.size | float64))) }}
{{- end }}

{{/*
Scratch space of a Kubernetes Job's pod: it encodes chunks of a single source, and the file system
uses 10 % at most.
*/}}
{{- define "vitascope.jobScratch" -}}
{{- printf "%.0fGi" (ceil (addf (divf (include "vitascope.bytes" .Values.encoding.sources.maxBytes) 0.9 1073741824) 2)) }}
{{- end }}

{{/* The same settings as the `env` of a container. */}}
{{- define "vitascope.env" -}}
{{- range $setting, $value := fromYaml (include "vitascope.settings" .) }}
- name: {{ $setting }}
  value: {{ $value | quote }}
{{- end }}
{{- end }}

{{- define "vitascope.settingsOfAll" -}}
{{- $root := .root }}
{{- $upper := upper .name }}
{{- $host := $root.Values.listenHost }}
{{- $scheme := eq $root.Values.tls.mode "none" | ternary "http" "https" }}
VITASCOPE_LOG_LEVEL: {{ $root.Values.logLevel }}
{{- if $root.Values.authorities.configMap }}
NODE_EXTRA_CA_CERTS: /etc/vitascope/authorities/ca.crt
{{- end }}
VITASCOPE_DRAIN_SECONDS: {{ $root.Values.shutdown.drainSeconds }}
VITASCOPE_{{ eq .name "web" | ternary "GATEWAY" $upper }}_METRICS_LISTEN: {{ printf "%s:%v" $host .row.ports.metrics | quote }}
{{- if hasKey .row.ports "grpc" }}
VITASCOPE_{{ $upper }}_LISTEN: {{ printf "%s:%v" $host .row.ports.grpc | quote }}
VITASCOPE_{{ $upper }}_HEALTH_LISTEN: {{ printf "%s:%v" $host .row.ports.health | quote }}
{{- end }}
{{- range .row.calls }}
{{- $callee := splitList "/" . }}
{{- $address := include "vitascope.address" (dict "root" $root "name" (first $callee) "port" (last $callee)) }}
{{- if eq (last $callee) "grpc" }}
VITASCOPE_{{ upper (first $callee) }}_ADDRESS: {{ $address | quote }}
{{- else if eq (last $callee) "upload" }}
VITASCOPE_ENCODING_UPLOAD_URL: {{ printf "%s://%s" $scheme $address | quote }}
{{- else }}
VITASCOPE_{{ upper (first $callee) }}_URL: {{ printf "%s://%s" $scheme $address | quote }}
{{- end }}
{{- end }}
{{- include "vitascope.settingsOfTraces" $root }}
VITASCOPE_SIGNING_KEY_FILE: /etc/vitascope/keys/signing-key
{{- if (fromYaml (include "vitascope.signersOfCallers" .)).names }}
VITASCOPE_PUBLIC_KEYS_DIR: /etc/vitascope/public-keys
{{- end }}
{{- range .row.secrets }}
VITASCOPE_{{ . | upper | replace "-" "_" }}_FILE: /etc/vitascope/keys/{{ . }}
{{- end }}
{{- if has "database" .row.egress }}
{{- if include "vitascope.poolerSecret" . }}
VITASCOPE_{{ $upper }}_DATABASE_URL_FILE: /etc/vitascope/pooler/url
VITASCOPE_{{ $upper }}_DATABASE_DIRECT_URL_FILE: /etc/vitascope/database/url
{{- else }}
VITASCOPE_{{ $upper }}_DATABASE_URL_FILE: /etc/vitascope/database/url
{{- end }}
{{- end }}
{{- if has "storage" .row.egress }}
{{- include "vitascope.settingsOfStorage" $root }}
{{- end }}
{{- if has "redis" .row.egress }}
{{- with $root.Values.redis }}
{{- if .existingSecret }}
VITASCOPE_REDIS_URL_FILE: /etc/vitascope/redis/url
{{- end }}
{{- if .sentinel.addresses }}
VITASCOPE_REDIS_SENTINELS: {{ .sentinel.addresses | join "," | quote }}
VITASCOPE_REDIS_SENTINEL_NAME: {{ .sentinel.name | quote }}
{{- if .sentinel.existingSecret }}
VITASCOPE_REDIS_SENTINEL_PASSWORD_FILE: /etc/vitascope/sentinel/password
{{- end }}
{{- end }}
{{- if .cluster.nodes }}
VITASCOPE_REDIS_CLUSTER_NODES: {{ .cluster.nodes | join "," | quote }}
{{- end }}
{{- end }}
{{- end }}
{{- if has "scratch" .row.volumes }}
VITASCOPE_SCRATCH_DIR: /var/lib/vitascope/scratch
{{- end }}
{{- if ne $root.Values.tls.mode "none" }}
VITASCOPE_TLS_DIR: /etc/vitascope/tls
VITASCOPE_TLS_CALLERS: {{ (fromYaml (include "vitascope.callers" .)).names | join "," | quote }}
{{- end }}
{{- end }}

{{- define "vitascope.settingsOfTraces" -}}
{{- with .Values.tracing }}
{{- if .endpoint }}
OTEL_EXPORTER_OTLP_ENDPOINT: {{ .endpoint | quote }}
OTEL_TRACES_SAMPLER: {{ .sampler }}
OTEL_TRACES_SAMPLER_ARG: {{ .ratio }}
VITASCOPE_CLIENT_TRACES_PER_SECOND: {{ .clientTracesPerSecond | int64 }}
{{- if .existingSecret }}
OTEL_EXPORTER_OTLP_HEADERS_FILE: /etc/vitascope/tracing/headers
{{- end }}
{{- end }}
{{- end }}
{{- end }}

{{- define "vitascope.settingsOfStorage" -}}
{{- if eq .Values.storage.kind "s3" }}
{{- with .Values.storage.s3 }}
VITASCOPE_S3_ENDPOINT: {{ .endpoint | quote }}
VITASCOPE_S3_REGION: {{ .region | quote }}
VITASCOPE_S3_BUCKET: {{ .bucket | quote }}
VITASCOPE_S3_VIRTUAL_HOST: {{ .virtualHost | ternary "1" "" | quote }}
{{- if ne .encryption "none" }}
VITASCOPE_S3_ENCRYPTION: {{ .encryption | quote }}
VITASCOPE_S3_KMS_KEY: {{ .kmsKey | quote }}
{{- end }}
{{- if eq .credentials "identity" }}
VITASCOPE_S3_CREDENTIALS: identity
# A pod without an identity must not use that of its node.
AWS_EC2_METADATA_DISABLED: "true"
{{- else }}
VITASCOPE_S3_ACCESS_KEY_ID_FILE: /etc/vitascope/storage/access-key-id
VITASCOPE_S3_SECRET_KEY_FILE: /etc/vitascope/storage/secret-access-key
{{- end }}
{{- end }}
{{- else }}
VITASCOPE_STORAGE_DIR: /var/lib/vitascope/objects
{{- end }}
{{- end }}

{{- define "vitascope.settingsOf.gateway" -}}
{{- $root := .root }}
{{- with $root.Values }}
VITASCOPE_HOST: {{ .listenHost | trimAll "[]" | quote }}
VITASCOPE_PORT: "8080"
VITASCOPE_PUBLIC_URL: {{ .publicUrl | quote }}
VITASCOPE_LIMITS: {{ .limits | quote }}
VITASCOPE_CORS_ORIGINS: {{ .corsOrigins | join "," | quote }}
VITASCOPE_TRUST_PROXY: {{ .trustedProxies | join "," | quote }}
VITASCOPE_SOURCE_ALLOW: {{ .sourceAllow | join "," | quote }}
VITASCOPE_DO_NOT_TRACK: {{ .doNotTrack | quote }}
{{- if and (eq .storage.kind "s3") .storage.s3.redirect }}
VITASCOPE_DELIVERY_S3: redirect
VITASCOPE_S3_ENDPOINT: {{ .storage.s3.endpoint | quote }}
VITASCOPE_S3_BUCKET: {{ .storage.s3.bucket | quote }}
VITASCOPE_S3_VIRTUAL_HOST: {{ .storage.s3.virtualHost | ternary "1" "" | quote }}
{{- end }}
{{- end }}
{{- end }}

{{- define "vitascope.settingsOf.web" -}}
{{ include "vitascope.settingsOf.gateway" . }}
{{- end }}

{{- define "vitascope.settingsOf.auth" -}}
VITASCOPE_AUDIT_DAYS: {{ .root.Values.auth.auditDays }}
{{- with .root.Values.oidc }}
{{- if .issuer }}
VITASCOPE_OIDC_ISSUER: {{ .issuer | quote }}
VITASCOPE_OIDC_CLIENT_ID: {{ .clientId | quote }}
VITASCOPE_OIDC_GROUPS_CLAIM: {{ .groupsClaim | quote }}
VITASCOPE_OIDC_USER_TYPES: {{ .userTypes | join "," | quote }}
VITASCOPE_OIDC_ORGANISATION: {{ .organisationId | quote }}
{{- if .existingSecret }}
VITASCOPE_OIDC_CLIENT_SECRET_FILE: /etc/vitascope/oidc/client-secret
{{- end }}
{{- end }}
{{- end }}
{{- end }}

{{- define "vitascope.settingsOf.catalogue" -}}
{{- with .root.Values }}
VITASCOPE_PUBLIC_URL: {{ .publicUrl | quote }}
VITASCOPE_SOURCE_ALLOW: {{ .sourceAllow | join "," | quote }}
{{- if .proxy.existingSecret }}
VITASCOPE_SOURCE_PROXY_FILE: /etc/vitascope/proxy/url
{{- else }}
VITASCOPE_SOURCE_PROXY: {{ .proxy.url | quote }}
{{- end }}
VITASCOPE_MAIL_FROM: {{ .mail.from | quote }}
{{- if .mail.existingSecret }}
VITASCOPE_SMTP_URL_FILE: /etc/vitascope/mail/url
{{- end }}
{{- if .cdn.existingSecret }}
VITASCOPE_CDN_PURGE_URL_FILE: /etc/vitascope/cdn/url
VITASCOPE_CDN_PURGE_SECRET_FILE: /etc/vitascope/cdn/secret
{{- end }}
{{- if .countryDatabase.existingClaim }}
VITASCOPE_COUNTRY_DATABASE_FILE: {{ printf "/etc/vitascope/countries/%s" .countryDatabase.file | quote }}
{{- end }}
{{- end }}
{{- end }}

{{- define "vitascope.settingsOf.encoding" -}}
{{- with .root.Values }}
VITASCOPE_ENCODING_UPLOAD_LISTEN: {{ printf "%s:8081" .listenHost | quote }}
VITASCOPE_SOURCE_ALLOW: {{ .sourceAllow | join "," | quote }}
{{- if .proxy.existingSecret }}
VITASCOPE_SOURCE_PROXY_FILE: /etc/vitascope/proxy/url
{{- else }}
VITASCOPE_SOURCE_PROXY: {{ .proxy.url | quote }}
{{- end }}
VITASCOPE_SOURCE_MAX_BYTES: {{ .encoding.sources.maxBytes | int64 }}
VITASCOPE_SOURCE_MAX_SECONDS: {{ .encoding.sources.maxSeconds | int64 }}
VITASCOPE_SOURCES_PARALLEL: {{ .encoding.sources.parallel }}
VITASCOPE_SOURCES_AHEAD: {{ .encoding.sources.ahead }}
VITASCOPE_LOW_PRIORITY_MAX_WAIT_SECONDS: {{ .encoding.sources.lowPriorityMaxWaitSeconds | int64 }}
VITASCOPE_KEEP_SOURCES: {{ .encoding.sources.keep | ternary 1 0 }}
{{- if eq .encoding.executor.kind "kubernetes" }}
{{- with .encoding.executor.kubernetes }}
VITASCOPE_EXECUTOR: kubernetes
VITASCOPE_KUBERNETES_NAMESPACE: {{ .namespace }}
VITASCOPE_KUBERNETES_POD_TEMPLATE: /etc/vitascope/executor/pod-template.json
VITASCOPE_KUBERNETES_INSTANCE: {{ include "vitascope.jobsInstance" $.root }}
VITASCOPE_KUBERNETES_OWNER: {{ include "vitascope.jobsOwner" $.root }}
VITASCOPE_KUBERNETES_QUEUE: {{ .queue | quote }}
VITASCOPE_KUBERNETES_PARALLELISM: {{ .parallelism }}
VITASCOPE_KUBERNETES_CPU: {{ .cpu | quote }}
VITASCOPE_KUBERNETES_DEADLINE_SECONDS: {{ .deadlineSeconds | int64 }}
VITASCOPE_KUBERNETES_TTL_SECONDS: {{ .ttlSeconds | int64 }}
VITASCOPE_KUBERNETES_STALL_SECONDS: {{ .stallSeconds | int64 }}
{{- end }}
{{- end }}
{{- end }}
{{- end }}

{{- define "vitascope.settingsOf.worker" -}}
VITASCOPE_WORKER_SLOTS: {{ .root.Values.worker.slots }}
VITASCOPE_SCRATCH_BYTES: {{ include "vitascope.scratchBytes" .root }}
VITASCOPE_SCRATCH_SPARE_PERCENT: {{ empty .root.Values.worker.scratch.storageClass | ternary .root.Values.worker.scratch.sparePercent "" }}
VITASCOPE_WORKER_IDLE_SECONDS: {{ .root.Values.worker.scaledJob.enabled | ternary .root.Values.worker.scaledJob.idleSeconds "" }}
{{- end }}

{{- define "vitascope.settingsOf.delivery" -}}
VITASCOPE_PUBLIC_URL: {{ .root.Values.publicUrl | quote }}
VITASCOPE_DELIVERY_LISTEN: {{ printf "%s:8080" .root.Values.listenHost | quote }}
VITASCOPE_DELIVERY_TRUST_PROXY: {{ .root.Values.delivery.gatewayNetworks | join "," | quote }}
{{- if .root.Values.countryDatabase.existingClaim }}
VITASCOPE_COUNTRY_DATABASE_FILE: {{ printf "/etc/vitascope/countries/%s" .root.Values.countryDatabase.file | quote }}
{{- end }}
VITASCOPE_LIMITS: {{ .root.Values.limits | quote }}
VITASCOPE_ALLOWED_CRAWLERS: {{ .root.Values.delivery.allowedCrawlers | join "," | quote }}
{{- if .root.Values.delivery.direct }}
{{- if include "vitascope.hasNginx" (dict "root" .root "name" "delivery") }}
# Only nginx in the same pod reaches this port. It passes the address of the viewer.
VITASCOPE_DELIVERY_PUBLIC_LISTEN: {{ printf "%s:8083" (include "vitascope.loopback" .root) | quote }}
VITASCOPE_DELIVERY_ACCEL_PATH: /objects/
VITASCOPE_TRUST_PROXY: {{ include "vitascope.loopback" .root | trimAll "[]" | quote }}
{{- else }}
VITASCOPE_DELIVERY_PUBLIC_LISTEN: {{ printf "%s:8082" .root.Values.listenHost | quote }}
VITASCOPE_TRUST_PROXY: {{ .root.Values.trustedProxies | join "," | quote }}
{{- end }}
{{- end }}
{{- if and (eq .root.Values.storage.kind "s3") .root.Values.storage.s3.redirect }}
VITASCOPE_DELIVERY_S3: redirect
{{- end }}
{{- end }}

{{- define "vitascope.settingsOf.collaboration" -}}
{}
{{- end }}

{{- define "vitascope.settingsOf.analytics" -}}
VITASCOPE_ANALYTICS_RETENTION_DAYS: {{ .root.Values.analytics.retentionDays }}
VITASCOPE_ANALYTICS_SPOOL_DIR: {{ .root.Values.analytics.spool.enabled | ternary "/var/lib/vitascope/spool" "" | quote }}
{{- if .root.Values.countryDatabase.existingClaim }}
VITASCOPE_COUNTRY_DATABASE_FILE: {{ printf "/etc/vitascope/countries/%s" .root.Values.countryDatabase.file | quote }}
{{- end }}
{{- end }}
