{{/*
Returns the prefix of the names of all objects. It starts with a letter, as names of Services
require.
*/}}
{{- define "vitascope.fullname" -}}
{{- if .Values.fullnameOverride }}{{ .Values.fullnameOverride | trunc 40 | trimSuffix "-" }}
{{- else if not (regexMatch "^[a-z]" .Release.Name) }}{{ printf "%s-%s" (include "vitascope.product" .) (.Release.Name | replace "." "-") | trunc 40 | trimSuffix "-" }}
{{- else if contains (include "vitascope.product" .) .Release.Name }}{{ .Release.Name | replace "." "-" | trunc 40 | trimSuffix "-" }}
{{- else }}{{ printf "%s-%s" (.Release.Name | replace "." "-") (include "vitascope.product" .) | trunc 40 | trimSuffix "-" }}
{{- end }}
{{- end }}

{{/* Returns the name of the product in names and labels: that of the chart by default. */}}
{{- define "vitascope.product" -}}
{{- .Values.nameOverride | default .Chart.Name | trunc 40 | trimSuffix "-" }}
{{- end }}

{{/* Returns the name of an object of a component: (dict "root" $ "name" "auth"). */}}
{{- define "vitascope.name" -}}
{{- printf "%s-%s" (include "vitascope.fullname" .root) .name }}
{{- end }}

{{/*
Returns the name of the Service for the metrics of all pods, which is also their Prometheus job.
*/}}
{{- define "vitascope.metricsName" -}}
{{- include "vitascope.name" (dict "root" . "name" "metrics") }}
{{- end }}

{{/* Returns the selector labels of a component's pods; they never change. */}}
{{- define "vitascope.selector" -}}
app.kubernetes.io/name: {{ include "vitascope.product" .root }}
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .name }}
{{- end }}

{{- define "vitascope.labels" -}}
{{ include "vitascope.selector" . }}
app.kubernetes.io/part-of: vitascope
app.kubernetes.io/version: {{ .root.Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .root.Chart.Name .root.Chart.Version | replace "+" "_" }}
{{- with .root.Values.commonLabels }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{/* Returns the reference of the server or encoding image: (dict "root" $ "image" "server"). */}}
{{- define "vitascope.image" -}}
{{- $image := .image | eq "encoding" | ternary .root.Values.encodingImage .root.Values.image }}
{{- if $image.digest }}{{ printf "%s@%s" $image.repository $image.digest }}
{{- else }}{{ printf "%s:%s" $image.repository ($image.tag | default .root.Chart.AppVersion) }}
{{- end }}
{{- end }}

{{/* Returns the host of a component's port: (dict "root" $ "name" "encoding" "port" "upload"). */}}
{{- define "vitascope.host" -}}
{{- printf "%s.%s.svc.%s" (include "vitascope.serviceName" .) .root.Release.Namespace .root.Values.clusterDomain }}
{{- end }}

{{/*
Returns the name of the Service of a component's port: (dict "root" $ "name" "encoding" "port"
"upload"). The ports `upload` and `public` have their own Services, whose cluster IPs balance HTTP
connections. The Service of `grpc` is headless, so that clients balance calls over the pods.
*/}}
{{- define "vitascope.serviceName" -}}
{{- include "vitascope.name" . }}{{ if has .port (list "upload" "public") }}-{{ .port }}{{ end }}
{{- end }}

{{/*
Returns HOST:PORT of a port, from this release or from the values if the component is not part of
it.
*/}}
{{- define "vitascope.address" -}}
{{- $values := index .root.Values .name }}
{{- if $values.enabled }}{{ printf "%s:%v" (include "vitascope.host" .) (index (fromYaml (include "vitascope.row" .)).ports .port) }}
{{- else }}{{ eq .port "upload" | ternary (get $values "uploadAddress") $values.address }}
{{- end }}
{{- end }}

{{/* Returns the name of the platform's secret with keys. */}}
{{- define "vitascope.keysSecret" -}}
{{- .Values.secrets.existingSecret | default (printf "%s-keys" (include "vitascope.fullname" .)) }}
{{- end }}

{{/*
Returns the secret with the URL of a component's database, as {secret, key}: (dict "root" $ "name"
"auth").
*/}}
{{- define "vitascope.databaseSecret" -}}
{{- $componentDatabase := (index .root.Values .name).database }}
{{- $database := .root.Values.database }}
{{- if $componentDatabase.existingSecret }}{{ dict "secret" $componentDatabase.existingSecret "key" $componentDatabase.key | toYaml }}
{{- else if $database.existingSecret }}{{ dict "secret" $database.existingSecret "key" .name | toYaml }}
{{- else if and $database.cloudNativePg.cluster $database.cloudNativePg.separateLogins }}{{ dict "secret" (printf "%s-%s" $database.cloudNativePg.cluster .name) "key" "uri" | toYaml }}
{{- else if $database.cloudNativePg.cluster }}{{ dict "secret" (printf "%s-app" $database.cloudNativePg.cluster) "key" "uri" | toYaml }}
{{- else }}{{ dict "secret" (printf "%s-postgres" (include "vitascope.fullname" .root)) "key" .name | toYaml }}
{{- end }}
{{- end }}

{{/*
Returns the secret with the URL of a component's database through a pooler, as {secret, key}. Empty
without a pooler: (dict "root" $ "name" "auth").
*/}}
{{- define "vitascope.poolerSecret" -}}
{{- $database := .root.Values.database }}
{{- $cluster := $database.cloudNativePg }}
{{- if $database.pooler.existingSecret }}{{ dict "secret" $database.pooler.existingSecret "key" .name | toYaml }}
{{- else if and $cluster.cluster $cluster.create (gt (int $cluster.pooler.instances) 0) }}{{ dict "secret" (printf "%s-%s" $cluster.cluster .name) "key" "pooler-uri" | toYaml }}
{{- end }}
{{- end }}

{{/* Returns the secret with tls.crt, tls.key and ca.crt of a component. */}}
{{- define "vitascope.tlsSecret" -}}
{{- if eq .root.Values.tls.mode "secrets" }}{{ index .root.Values.tls.secrets .name }}
{{- else }}{{ include "vitascope.name" . }}-tls
{{- end }}
{{- end }}

{{/* Returns the volume claim of the objects. */}}
{{- define "vitascope.objectsClaim" -}}
{{- .Values.storage.files.existingClaim | default (printf "%s-objects" (include "vitascope.fullname" .)) }}
{{- end }}

{{/* Non-empty if gateways use Redis. */}}
{{- define "vitascope.hasRedis" -}}
{{- if or .Values.redis.existingSecret .Values.redis.sentinel.addresses .Values.redis.cluster.nodes }}yes{{ end }}
{{- end }}

{{/* Non-empty if sources are fetched through a proxy. */}}
{{- define "vitascope.hasProxy" -}}
{{- if or .Values.proxy.url .Values.proxy.existingSecret }}yes{{ end }}
{{- end }}

{{/* Non-empty if pods mount keys of the object store. */}}
{{- define "vitascope.hasStorageKeys" -}}
{{- if and (eq .Values.storage.kind "s3") (eq .Values.storage.s3.credentials "secret") }}yes{{ end }}
{{- end }}

{{/* Non-empty if the database is part of this release, and so does not exist before its pods. */}}
{{- define "vitascope.includesDatabase" -}}
{{- if or .Values.evaluation.postgres.enabled .Values.database.cloudNativePg.create }}yes{{ end }}
{{- end }}

{{/*
Returns the names of the secrets that a component's pods mount, as {keys, storage, tls, tracing}.
Those of Kubernetes Jobs are in another namespace: (dict "root" $ "name" "worker" "jobs" true).
*/}}
{{- define "vitascope.secretNames" -}}
{{- $secrets := .root.Values.encoding.executor.kubernetes.secrets }}
{{- if .jobs }}
keys: {{ $secrets.keys }}
storage: {{ $secrets.storage }}
tls: {{ $secrets.tls | default (printf "%s-tls" (include "vitascope.jobsName" .root)) }}
tracing: {{ $secrets.tracing }}
{{- else }}
keys: {{ include "vitascope.keysSecret" .root }}
storage: {{ get .root.Values.storage.s3.existingSecrets .name }}
tls: {{ include "vitascope.tlsSecret" . }}
tracing: {{ .root.Values.tracing.existingSecret }}
{{- end }}
{{- end }}

{{/* Non-empty if requests to the receiver of traces have headers from a secret. */}}
{{- define "vitascope.hasTraceHeaders" -}}
{{- if and .Values.tracing.endpoint .Values.tracing.existingSecret }}yes{{ end }}
{{- end }}

{{/* Returns the name of the objects for Kubernetes Jobs. */}}
{{- define "vitascope.jobsName" -}}
{{- printf "%s-encode" (include "vitascope.fullname" .) }}
{{- end }}

{{/*
Returns the label value that distinguishes this release's Kubernetes Jobs from those of others:
the release name, shortened if necessary, and a unique suffix.
*/}}
{{- define "vitascope.jobsInstance" -}}
{{- $name := regexReplaceAll "[^a-z0-9-]" (regexReplaceAll "^[^a-z]+" .Release.Name "") "-" | trunc 13 }}
{{- regexReplaceAll "-+$" $name "" | default "vitascope" }}-{{ printf "%s/%s" .Release.Namespace .Release.Name | sha256sum | trunc 6 }}
{{- end }}

{{/*
Returns the ConfigMap that owns all Kubernetes Jobs of this instance. Another instance has another
one, so that old Jobs are deleted when an upgrade changes the instance.
*/}}
{{- define "vitascope.jobsOwner" -}}
{{- include "vitascope.jobsInstance" . }}-jobs
{{- end }}

{{/* Returns the selector labels of the pods of Kubernetes Jobs. */}}
{{- define "vitascope.jobsSelector" -}}
app.kubernetes.io/managed-by: vitascope-encoding
app.kubernetes.io/instance: {{ include "vitascope.jobsInstance" . }}
app.kubernetes.io/component: encode
{{- end }}

{{/* Non-empty if encoding creates Kubernetes Jobs. */}}
{{- define "vitascope.createsJobs" -}}
{{- if and .Values.encoding.enabled (eq .Values.encoding.executor.kind "kubernetes") }}yes{{ end }}
{{- end }}
