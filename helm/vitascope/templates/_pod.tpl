{{/*
Security context of every pod and container: PodSecurity `restricted`, and a read-only root file
system.
*/}}
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

{{/*
Volume mounts of a component's containers, (dict "root" $ "name" "auth" "migrate" false): files of
secrets, and writable folders.
*/}}
{{- define "vitascope.mounts" -}}
{{- $row := fromYaml (include "vitascope.row" .) }}
- { name: tmp, mountPath: /tmp }
{{- if .root.Values.authorities.configMap }}
- { name: authorities, mountPath: /etc/vitascope/authorities, readOnly: true }
{{- end }}
{{- if has "database" $row.egress }}
- { name: database, mountPath: /etc/vitascope/database, readOnly: true }
{{- end }}
{{- if not .migrate }}
{{- if and (has "database" $row.egress) .root.Values.database.pooler.existingSecret }}
- { name: pooler, mountPath: /etc/vitascope/pooler, readOnly: true }
{{- end }}
- { name: keys, mountPath: /etc/vitascope/keys, readOnly: true }
{{- if (fromYaml (include "vitascope.signersOfCallers" .)).names }}
- { name: public-keys, mountPath: /etc/vitascope/public-keys, readOnly: true }
{{- end }}
{{- if ne .root.Values.tls.mode "none" }}
- { name: tls, mountPath: /etc/vitascope/tls, readOnly: true }
{{- end }}
{{- if and (has "storage" $row.egress) (eq .root.Values.storage.kind "s3") }}
- { name: storage, mountPath: /etc/vitascope/storage, readOnly: true }
{{- end }}
{{- if and (has "redis" $row.egress) .root.Values.redis.existingSecret }}
- { name: redis, mountPath: /etc/vitascope/redis, readOnly: true }
{{- end }}
{{- if and (has "mail" $row.egress) .root.Values.mail.existingSecret }}
- { name: mail, mountPath: /etc/vitascope/mail, readOnly: true }
{{- end }}
{{- if and (has "oidc" $row.egress) .root.Values.oidc.existingSecret }}
- { name: oidc, mountPath: /etc/vitascope/oidc, readOnly: true }
{{- end }}
{{- if and (has .name (list "catalogue" "delivery")) .root.Values.countryDatabase.existingClaim }}
- { name: countries, mountPath: /etc/vitascope/countries, readOnly: true }
{{- end }}
{{- if and (eq .name "catalogue") .root.Values.cdn.existingSecret }}
- { name: cdn, mountPath: /etc/vitascope/cdn, readOnly: true }
{{- end }}
{{- if has "scratch" $row.volumes }}
- { name: scratch, mountPath: /var/lib/vitascope/scratch }
{{- end }}
{{- if eq (include "vitascope.callsKubernetes" .) "yes" }}
- { name: executor, mountPath: /etc/vitascope/executor, readOnly: true }
{{- end }}
{{- if and (has "objects" $row.volumes) (eq .root.Values.storage.kind "files") }}
- name: objects
  mountPath: /var/lib/vitascope/objects
  {{- if eq .name "delivery" }}
  readOnly: true
  {{- end }}
{{- end }}
{{- if and (has "spool" $row.volumes) .root.Values.analytics.spool.enabled }}
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
{{- if has "database" $row.egress }}
{{- $database := fromYaml (include "vitascope.databaseSecret" .) }}
- name: database
  secret:
    secretName: {{ $database.secret }}
    defaultMode: 0440
    items:
      - { key: {{ $database.key }}, path: url }
{{- end }}
{{- if not .migrate }}
{{- if and (has "database" $row.egress) $root.Values.database.pooler.existingSecret }}
- name: pooler
  secret:
    secretName: {{ $root.Values.database.pooler.existingSecret }}
    defaultMode: 0440
    items:
      - { key: {{ .name }}, path: url }
{{- end }}
- name: keys
  secret:
    secretName: {{ $secrets.keys }}
    defaultMode: 0440
    items:
      - { key: {{ include "vitascope.signer" . }}.key, path: signing-key }
      {{- range $row.secrets }}
      - { key: {{ . }}, path: {{ . }} }
      {{- end }}
{{- with (fromYaml (include "vitascope.signersOfCallers" .)).names }}
- name: public-keys
  secret:
    secretName: {{ $secrets.keys }}
    defaultMode: 0440
    items:
      {{- range . }}
      - { key: {{ . }}.pub, path: {{ . }}.pub }
      {{- end }}
{{- end }}
{{- if ne $root.Values.tls.mode "none" }}
- name: tls
  secret:
    secretName: {{ $secrets.tls }}
    defaultMode: 0440
{{- end }}
{{- if and (has "storage" $row.egress) (eq $root.Values.storage.kind "s3") }}
- name: storage
  secret:
    secretName: {{ $secrets.storage }}
    defaultMode: 0440
    items:
      - { key: {{ $root.Values.storage.s3.accessKeyIdKey }}, path: access-key-id }
      - { key: {{ $root.Values.storage.s3.secretAccessKeyKey }}, path: secret-access-key }
{{- end }}
{{- if and (has "redis" $row.egress) $root.Values.redis.existingSecret }}
- name: redis
  secret:
    secretName: {{ $root.Values.redis.existingSecret }}
    defaultMode: 0440
    items:
      - { key: {{ $root.Values.redis.key }}, path: url }
{{- end }}
{{- if and (has "mail" $row.egress) $root.Values.mail.existingSecret }}
- name: mail
  secret:
    secretName: {{ $root.Values.mail.existingSecret }}
    defaultMode: 0440
    items:
      - { key: {{ $root.Values.mail.key }}, path: url }
{{- end }}
{{- if and (has "oidc" $row.egress) $root.Values.oidc.existingSecret }}
- name: oidc
  secret:
    secretName: {{ $root.Values.oidc.existingSecret }}
    defaultMode: 0440
    items:
      - { key: {{ $root.Values.oidc.key }}, path: client-secret }
{{- end }}
{{- if and (has .name (list "catalogue" "delivery")) $root.Values.countryDatabase.existingClaim }}
- name: countries
  persistentVolumeClaim:
    claimName: {{ $root.Values.countryDatabase.existingClaim }}
    readOnly: true
{{- end }}
{{- if and (eq .name "catalogue") $root.Values.cdn.existingSecret }}
- name: cdn
  secret:
    secretName: {{ $root.Values.cdn.existingSecret }}
    defaultMode: 0440
    items:
      - { key: url, path: url }
      - { key: secret, path: secret }
{{- end }}
{{- if has "scratch" $row.volumes }}
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
{{- if and (has "objects" $row.volumes) (eq $root.Values.storage.kind "files") }}
- name: objects
  persistentVolumeClaim:
    claimName: {{ include "vitascope.objectsClaim" $root }}
{{- end }}
{{- end }}
{{- end }}

{{/*
Text that changes with the mounted secrets, so that a change replaces the pods. Certificates are
not included, because processes reload them. The text is derived from the resource versions of the
secrets, not from their contents. If helm cannot query the cluster (helm template), only
`secrets.revision` counts.
*/}}
{{- define "vitascope.secretsVersion" -}}
{{- $root := .root }}
{{- $versions := list $root.Values.secrets.revision }}
{{- range fromYamlArray (include "vitascope.volumes" .) }}
{{- if and .secret (ne .name "tls") }}
{{- $mountedSecret := lookup "v1" "Secret" $root.Release.Namespace .secret.secretName }}
{{- if $mountedSecret }}{{ $versions = append $versions $mountedSecret.metadata.resourceVersion }}{{ end }}
{{- end }}
{{- end }}
{{- $versions | join "," | sha256sum | trunc 16 }}
{{- end }}

{{/*
Liveness checks the metrics port of the process. Readiness checks gRPC health (or that port),
including dependencies.
*/}}
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

{{/* Placement of pods. */}}
{{- define "vitascope.placement" -}}
{{- $pod := (index .root.Values .name).pod }}
{{- with $pod.priorityClassName | default (include "vitascope.priorityClass" .) }}
priorityClassName: {{ . }}
{{- end }}
{{- include "vitascope.nodes" . | nindent 0 }}
{{- end }}

{{/*
Node placement of a component's pods, including hook pods that run before the release's priority
classes exist.
*/}}
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

{{/* Topology spread of a component's pods. */}}
{{- define "vitascope.spread" -}}
{{- $ownFolder := include "vitascope.ownFolder" . }}
{{- with .root.Values.topologySpread }}
topologySpreadConstraints:
  {{- range $key, $whenUnsatisfiable := . }}
  - topologyKey: {{ $key }}
    maxSkew: 1
    whenUnsatisfiable: {{ $whenUnsatisfiable }}
    matchLabelKeys: [{{ empty $ownFolder | ternary "pod-template-hash" "controller-revision-hash" }}]
    labelSelector:
      matchLabels:
        {{- include "vitascope.selector" $ | nindent 8 }}
  {{- end }}
{{- end }}
{{- end }}

{{/* Work that can wait has a lower priority than services that answer requests. */}}
{{- define "vitascope.priorityClass" -}}
{{- if .root.Values.priorityClasses.create }}
{{- include "vitascope.priorityName" (dict "root" .root "kind" (eq .name "worker" | ternary "work" "serving")) }}
{{- end }}
{{- end }}

{{/*
Name of a priority class. Classes are cluster-wide and their value is immutable, so another
release or another value has another name.
*/}}
{{- define "vitascope.priorityName" -}}
{{- printf "%s-%s-%v" (include "vitascope.jobsInstance" .root) .kind (index .root.Values.priorityClasses .kind) }}
{{- end }}
