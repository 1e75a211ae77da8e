{{/* The security of every pod and container here: what PodSecurity `restricted` asks for, and a root file system that is read-only. */}}
{{- define "vitascope.podSecurity" -}}
runAsNonRoot: true
runAsUser: 10001
runAsGroup: 10001
fsGroup: 10001
fsGroupChangePolicy: OnRootMismatch
seccompProfile:
  type: RuntimeDefault
{{- end }}

{{- define "vitascope.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities:
  drop: [ALL]
{{- end }}

{{/* What is mounted into a component's containers, (dict "root" $ "name" "auth" "migrate" false): files of secrets, and the folders that it may write. */}}
{{- define "vitascope.mounts" -}}
{{- $row := fromYaml (include "vitascope.row" .) }}
- { name: tmp, mountPath: /tmp }
{{- if .root.Values.authorities.configMap }}
- { name: authorities, mountPath: /etc/vitascope/authorities, readOnly: true }
{{- end }}
{{- if has "database" $row.reaches }}
- { name: database, mountPath: /etc/vitascope/database, readOnly: true }
{{- end }}
{{- if not .migrate }}
- { name: keys, mountPath: /etc/vitascope/keys, readOnly: true }
{{- if ne .root.Values.tls.mode "none" }}
- { name: tls, mountPath: /etc/vitascope/tls, readOnly: true }
{{- end }}
{{- if and (has "storage" $row.reaches) (eq .root.Values.storage.kind "s3") }}
- { name: storage, mountPath: /etc/vitascope/storage, readOnly: true }
{{- end }}
{{- if and (has "redis" $row.reaches) .root.Values.redis.existingSecret }}
- { name: redis, mountPath: /etc/vitascope/redis, readOnly: true }
{{- end }}
{{- if and (has "mail" $row.reaches) .root.Values.mail.existingSecret }}
- { name: mail, mountPath: /etc/vitascope/mail, readOnly: true }
{{- end }}
{{- if has "scratch" $row.folders }}
- { name: scratch, mountPath: /var/lib/vitascope/scratch }
{{- end }}
{{- if eq (include "vitascope.callsKubernetes" .) "yes" }}
- { name: executor, mountPath: /etc/vitascope/executor, readOnly: true }
{{- end }}
{{- if and (has "objects" $row.folders) (eq .root.Values.storage.kind "files") }}
- name: objects
  mountPath: /var/lib/vitascope/objects
  {{- if eq .name "delivery" }}
  readOnly: true
  {{- end }}
{{- end }}
{{- if and (has "spool" $row.folders) .root.Values.analytics.spool.enabled }}
- { name: spool, mountPath: /var/lib/vitascope/spool }
{{- end }}
{{- end }}
{{- end }}

{{- define "vitascope.volumes" -}}
{{- $root := .root }}
{{- $secrets := fromYaml (include "vitascope.secretNames" .) }}
{{- $row := fromYaml (include "vitascope.row" .) }}
- name: tmp
  emptyDir: { sizeLimit: 256Mi }
{{- with $root.Values.authorities.configMap }}
- name: authorities
  configMap:
    name: {{ . }}
    items:
      - { key: {{ $root.Values.authorities.key }}, path: ca.crt }
{{- end }}
{{- if has "database" $row.reaches }}
{{- $database := fromYaml (include "vitascope.databaseSecret" .) }}
- name: database
  secret:
    secretName: {{ $database.secret }}
    defaultMode: 0440
    items:
      - { key: {{ $database.key }}, path: url }
{{- end }}
{{- if not .migrate }}
- name: keys
  secret:
    secretName: {{ $secrets.keys }}
    defaultMode: 0440
    items:
      {{- range $row.keys }}
      - { key: {{ . }}, path: {{ . }} }
      {{- end }}
{{- if ne $root.Values.tls.mode "none" }}
- name: tls
  secret:
    secretName: {{ $secrets.tls }}
    defaultMode: 0440
{{- end }}
{{- if and (has "storage" $row.reaches) (eq $root.Values.storage.kind "s3") }}
- name: storage
  secret:
    secretName: {{ $secrets.storage }}
    defaultMode: 0440
    items:
      - { key: {{ $root.Values.storage.s3.accessKeyIdKey }}, path: access-key-id }
      - { key: {{ $root.Values.storage.s3.secretAccessKeyKey }}, path: secret-access-key }
{{- end }}
{{- if and (has "redis" $row.reaches) $root.Values.redis.existingSecret }}
- name: redis
  secret:
    secretName: {{ $root.Values.redis.existingSecret }}
    defaultMode: 0440
    items:
      - { key: {{ $root.Values.redis.key }}, path: url }
{{- end }}
{{- if and (has "mail" $row.reaches) $root.Values.mail.existingSecret }}
- name: mail
  secret:
    secretName: {{ $root.Values.mail.existingSecret }}
    defaultMode: 0440
    items:
      - { key: {{ $root.Values.mail.key }}, path: url }
{{- end }}
{{- if has "scratch" $row.folders }}
{{- $scratch := (index $root.Values .name).scratch }}
- name: scratch
  {{- if $scratch.storageClass }}
  ephemeral:
    volumeClaimTemplate:
      spec:
        accessModes: [ReadWriteOnce]
        storageClassName: {{ $scratch.storageClass }}
        resources:
          requests:
            storage: {{ if .jobs }}{{ include "vitascope.jobScratch" $root }}{{ else }}{{ $scratch.size }}{{ end }}
  {{- else }}
  emptyDir: { sizeLimit: {{ $scratch.size }} }
  {{- end }}
{{- end }}
{{- if eq (include "vitascope.callsKubernetes" .) "yes" }}
- name: executor
  configMap:
    name: {{ include "vitascope.jobsName" $root }}-pod
{{- end }}
{{- if and (has "objects" $row.folders) (eq $root.Values.storage.kind "files") }}
- name: objects
  persistentVolumeClaim:
    claimName: {{ include "vitascope.objectsClaim" $root }}
{{- end }}
{{- end }}
{{- end }}

{{/*
Changes whenever a secret that the pods hold does, so that they are replaced; certificates are read again without that. It is made of the versions of
the secrets, not of what is in them. Without a cluster to ask (helm template) only `secrets.revision` counts.
*/}}
{{- define "vitascope.secretsVersion" -}}
{{- $root := .root }}
{{- $versions := list $root.Values.secrets.revision }}
{{- range fromYamlArray (include "vitascope.volumes" .) }}
{{- if and .secret (ne .name "tls") }}
{{- $found := lookup "v1" "Secret" $root.Release.Namespace .secret.secretName }}
{{- if $found }}{{ $versions = append $versions $found.metadata.resourceVersion }}{{ end }}
{{- end }}
{{- end }}
{{- $versions | join "," | sha256sum | trunc 16 }}
{{- end }}

{{/* Alive is what answers for itself on the page of metrics; ready is what says so by gRPC (or there), dependencies counted. */}}
{{- define "vitascope.probes" -}}
{{- $row := fromYaml (include "vitascope.row" .) }}
startupProbe:
  httpGet: { path: /healthz, port: metrics }
  periodSeconds: 2
  timeoutSeconds: 3
  failureThreshold: 150
livenessProbe:
  httpGet: { path: /healthz, port: metrics }
  periodSeconds: 10
  timeoutSeconds: 5
  failureThreshold: 6
readinessProbe:
  {{- if hasKey $row.ports "health" }}
  grpc: { port: {{ $row.ports.health }} }
  {{- else }}
  httpGet: { path: /readyz, port: metrics }
  {{- end }}
  periodSeconds: 3
  timeoutSeconds: 3
  failureThreshold: 2
{{- end }}

{{/* Where pods may run. */}}
{{- define "vitascope.placement" -}}
{{- $pod := (index .root.Values .name).pod }}
{{- with $pod.priorityClassName | default (include "vitascope.priorityClass" .) }}
priorityClassName: {{ . }}
{{- end }}
{{- include "vitascope.nodes" . | nindent 0 }}
{{- end }}

{{/* On which nodes pods of a component may be, also those that are there before the release's own priority classes. */}}
{{- define "vitascope.nodes" -}}
{{- $pod := (index .root.Values .name).pod }}
{{- with $pod.nodeSelector }}
nodeSelector:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with $pod.tolerations }}
tolerations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with $pod.affinity }}
affinity:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{/* How pods of a component should lie. */}}
{{- define "vitascope.spread" -}}
{{- $own := include "vitascope.ownFolder" . }}
{{- with .root.Values.topologySpread }}
topologySpreadConstraints:
  {{- range $key, $how := . }}
  - topologyKey: {{ $key }}
    maxSkew: 1
    whenUnsatisfiable: {{ $how }}
    matchLabelKeys: [{{ empty $own | ternary "pod-template-hash" "controller-revision-hash" }}]
    labelSelector:
      matchLabels:
        {{- include "vitascope.selector" $ | nindent 8 }}
  {{- end }}
{{- end }}
{{- end }}

{{/* Work that can wait gives way to what answers callers. */}}
{{- define "vitascope.priorityClass" -}}
{{- if .root.Values.priorityClasses.create }}
{{- include "vitascope.priorityName" (dict "root" .root "kind" (eq .name "worker" | ternary "work" "serving")) }}
{{- end }}
{{- end }}

{{/* Of a class, which all namespaces see and whose value nobody can change: another release, or another value, has another one. */}}
{{- define "vitascope.priorityName" -}}
{{- printf "%s-%s-%v" (include "vitascope.jobsInstance" .root) .kind (index .root.Values.priorityClasses .kind) }}
{{- end }}
