{{/* Begins with a letter, since names of Services have to. */}}
{{- define "vitascope.fullname" -}}
{{- if .Values.fullnameOverride }}{{ .Values.fullnameOverride | trunc 40 | trimSuffix "-" }}
{{- else if not (regexMatch "^[a-z]" .Release.Name) }}{{ printf "%s-%s" (include "vitascope.product" .) (.Release.Name | replace "." "-") | trunc 40 | trimSuffix "-" }}
{{- else if contains (include "vitascope.product" .) .Release.Name }}{{ .Release.Name | replace "." "-" | trunc 40 | trimSuffix "-" }}
{{- else }}{{ printf "%s-%s" (.Release.Name | replace "." "-") (include "vitascope.product" .) | trunc 40 | trimSuffix "-" }}
{{- end }}
{{- end }}

{{- define "vitascope.product" -}}
{{- .Values.nameOverride | default .Chart.Name | trunc 40 | trimSuffix "-" }}
{{- end }}

{{/* The name of what belongs to a component: (dict "root" $ "name" "auth"). */}}
{{- define "vitascope.name" -}}
{{- printf "%s-%s" (include "vitascope.fullname" .root) .name }}
{{- end }}

{{/* The Service that leads to the metrics of all pods, and what Prometheus calls them. */}}
{{- define "vitascope.metricsName" -}}
{{- include "vitascope.name" (dict "root" . "name" "metrics") }}
{{- end }}

{{/* What a component's pods are found by; it never changes. */}}
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
{{- end }}

{{/* The image of a row: (dict "root" $ "image" "server"). */}}
{{- define "vitascope.image" -}}
{{- $image := .image | eq "encoding" | ternary .root.Values.encodingImage .root.Values.image }}
{{- if $image.digest }}{{ printf "%s@%s" $image.repository $image.digest }}
{{- else }}{{ printf "%s:%s" $image.repository ($image.tag | default .root.Chart.AppVersion) }}
{{- end }}
{{- end }}

{{/* The host under which a component's port is found: (dict "root" $ "name" "encoding" "port" "upload"). */}}
{{- define "vitascope.host" -}}
{{- printf "%s.%s.svc.%s" (include "vitascope.serviceName" .) .root.Release.Namespace .root.Values.clusterDomain }}
{{- end }}

{{/* Uploads have a service of their own: bytes over HTTP are spread by its address, calls over gRPC by the addresses behind a headless one. */}}
{{- define "vitascope.serviceName" -}}
{{- include "vitascope.name" . }}{{ if eq .port "upload" }}-upload{{ end }}
{{- end }}

{{/* HOST:PORT of a port, here or, where the component is not deployed here, where the values say that it is. */}}
{{- define "vitascope.address" -}}
{{- $values := index .root.Values .name }}
{{- if $values.enabled }}{{ printf "%s:%v" (include "vitascope.host" .) (index (fromYaml (include "vitascope.row" .)).ports .port) }}
{{- else }}{{ eq .port "upload" | ternary (get $values "uploadAddress") $values.address }}
{{- end }}
{{- end }}

{{/* The name of the secret of the house's keys. */}}
{{- define "vitascope.keysSecret" -}}
{{- .Values.secrets.existingSecret | default (printf "%s-keys" (include "vitascope.fullname" .)) }}
{{- end }}

{{/* Where the URL of a component's database is, as {secret, key}: (dict "root" $ "name" "auth"). */}}
{{- define "vitascope.databaseSecret" -}}
{{- $own := (index .root.Values .name).database }}
{{- $database := .root.Values.database }}
{{- if $own.existingSecret }}{{ dict "secret" $own.existingSecret "key" $own.key | toYaml }}
{{- else if $database.existingSecret }}{{ dict "secret" $database.existingSecret "key" .name | toYaml }}
{{- else if $database.cloudNativePg.cluster }}{{ dict "secret" (printf "%s-app" $database.cloudNativePg.cluster) "key" "uri" | toYaml }}
{{- else }}{{ dict "secret" (printf "%s-postgres" (include "vitascope.fullname" .root)) "key" .name | toYaml }}
{{- end }}
{{- end }}

{{/* The secret with tls.crt, tls.key and ca.crt of a component. */}}
{{- define "vitascope.tlsSecret" -}}
{{- if eq .root.Values.tls.mode "secrets" }}{{ index .root.Values.tls.secrets .name }}
{{- else }}{{ include "vitascope.name" . }}-tls
{{- end }}
{{- end }}

{{/* The claim of the folder of objects. */}}
{{- define "vitascope.objectsClaim" -}}
{{- .Values.storage.files.existingClaim | default (printf "%s-objects" (include "vitascope.fullname" .)) }}
{{- end }}

{{/* Non-empty where the database comes with this release, and so is not there before its pods. */}}
{{- define "vitascope.databaseWithin" -}}
{{- if or .Values.demo.postgres.enabled .Values.database.cloudNativePg.create }}yes{{ end }}
{{- end }}

{{/*
The names of secrets that a component's pods hold, as {keys, tls, storage}; those of Jobs lie in another namespace: (dict "root" $ "name" "worker" "jobs" true).
*/}}
{{- define "vitascope.secretNames" -}}
{{- $own := .root.Values.encoding.executor.kubernetes.secrets }}
{{- if .jobs }}
keys: {{ $own.keys }}
storage: {{ $own.storage }}
tls: {{ $own.tls | default (printf "%s-tls" (include "vitascope.jobsName" .root)) }}
{{- else }}
keys: {{ include "vitascope.keysSecret" .root }}
storage: {{ .root.Values.storage.s3.existingSecret }}
tls: {{ include "vitascope.tlsSecret" . }}
{{- end }}
{{- end }}

{{/* The name of what belongs to the Jobs of the Kubernetes executor. */}}
{{- define "vitascope.jobsName" -}}
{{- printf "%s-encode" (include "vitascope.fullname" .) }}
{{- end }}

{{/* By which the executor tells its Jobs from those of another release: the name of this one, as far as there is room for it, and what no other has. */}}
{{- define "vitascope.jobsInstance" -}}
{{- $name := regexReplaceAll "[^a-z0-9-]" (regexReplaceAll "^[^a-z]+" .Release.Name "") "-" | trunc 13 }}
{{- regexReplaceAll "-+$" $name "" | default "vitascope" }}-{{ printf "%s/%s" .Release.Namespace .Release.Name | sha256sum | trunc 6 }}
{{- end }}

{{/* The ConfigMap that owns all Jobs of this instance: one of another instance has another, so that its Jobs go where an upgrade changes the instance. */}}
{{- define "vitascope.jobsOwner" -}}
{{- include "vitascope.jobsInstance" . }}-jobs
{{- end }}

{{/* What pods of Jobs are found by. */}}
{{- define "vitascope.jobsSelector" -}}
app.kubernetes.io/managed-by: vitascope-encoding
app.kubernetes.io/instance: {{ include "vitascope.jobsInstance" . }}
app.kubernetes.io/component: encode
{{- end }}

{{/* Non-empty where encoding makes Jobs. */}}
{{- define "vitascope.makesJobs" -}}
{{- if and .Values.encoding.enabled (eq .Values.encoding.executor.kind "kubernetes") }}yes{{ end }}
{{- end }}
