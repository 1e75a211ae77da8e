{{/*
Values of `pods` with the changes of a component: (dict "root" $ "name" "auth"). Without a name, or for
a part without `pod`, those of all pods.
*/}}
{{- define "vitascope.podValues" -}}
{{- $own := dict }}
{{- if .name }}{{ $own = get (get .root.Values .name | default dict) "pod" | default dict }}{{ end }}
{{- include "vitascope.overlay" (dict "base" .root.Values.pods "over" $own) }}
{{- end }}

{{/* Merges two maps: maps in them are merged, lists are appended, and null removes an entry. */}}
{{- define "vitascope.overlay" -}}
{{- $merged := deepCopy .base }}
{{- range $key, $value := .over }}
{{- $before := get $merged $key }}
{{- if kindIs "invalid" $value }}
{{- $_ := unset $merged $key }}
{{- else if and (kindIs "map" $value) (kindIs "map" $before) }}
{{- $_ := set $merged $key (fromYaml (include "vitascope.overlay" (dict "base" $before "over" $value))) }}
{{- else if and (kindIs "slice" $value) (kindIs "slice" $before) }}
{{- $_ := set $merged $key (concat $before $value) }}
{{- else }}
{{- $_ := set $merged $key $value }}
{{- end }}
{{- end }}
{{- toYaml $merged }}
{{- end }}

{{/* Security context of a pod. The default complies with PodSecurity `restricted`. */}}
{{- define "vitascope.podSecurity" -}}
{{- toYaml (fromYaml (include "vitascope.podValues" .)).securityContext }}
{{- end }}

{{/* Security context of a container. */}}
{{- define "vitascope.containerSecurity" -}}
{{- toYaml (fromYaml (include "vitascope.podValues" .)).containerSecurityContext }}
{{- end }}

{{/* Security context of the container of a Kubernetes Job, which the admission policy requires. */}}
{{- define "vitascope.jobSecurity" -}}
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
{{- if and (has "database" $row.egress) (include "vitascope.poolerSecret" .) }}
- { name: pooler, mountPath: /etc/vitascope/pooler, readOnly: true }
{{- end }}
- { name: keys, mountPath: /etc/vitascope/keys, readOnly: true }
{{- if (fromYaml (include "vitascope.signersOfCallers" .)).names }}
- { name: public-keys, mountPath: /etc/vitascope/public-keys, readOnly: true }
{{- end }}
{{- if ne .root.Values.tls.mode "none" }}
- { name: tls, mountPath: /etc/vitascope/tls, readOnly: true }
{{- end }}
{{- if and (has "storage" $row.egress) (include "vitascope.hasStorageKeys" .root) }}
- { name: storage, mountPath: /etc/vitascope/storage, readOnly: true }
{{- end }}
{{- if and (has "redis" $row.egress) .root.Values.redis.existingSecret }}
- { name: redis, mountPath: /etc/vitascope/redis, readOnly: true }
{{- end }}
{{- if and (has "redis" $row.egress) .root.Values.redis.sentinel.existingSecret }}
- { name: sentinel, mountPath: /etc/vitascope/sentinel, readOnly: true }
{{- end }}
{{- if and (has "mail" $row.egress) .root.Values.mail.existingSecret }}
- { name: mail, mountPath: /etc/vitascope/mail, readOnly: true }
{{- end }}
{{- if and (has "public" $row.egress) .root.Values.proxy.existingSecret }}
- { name: proxy, mountPath: /etc/vitascope/proxy, readOnly: true }
{{- end }}
{{- if include "vitascope.hasTraceHeaders" .root }}
- { name: tracing, mountPath: /etc/vitascope/tracing, readOnly: true }
{{- end }}
{{- if and (has "oidc" $row.egress) .root.Values.oidc.existingSecret }}
- { name: oidc, mountPath: /etc/vitascope/oidc, readOnly: true }
{{- end }}
{{- if and (has .name (list "analytics" "catalogue" "delivery")) .root.Values.countryDatabase.existingClaim }}
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
{{- $pooler := include "vitascope.poolerSecret" . | fromYaml }}
{{- if and (has "database" $row.egress) $pooler }}
- name: pooler
  secret:
    secretName: {{ $pooler.secret }}
    defaultMode: 0440
    items:
      - { key: {{ $pooler.key }}, path: url }
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
{{- if and (has "storage" $row.egress) (include "vitascope.hasStorageKeys" $root) }}
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
{{- if and (has "redis" $row.egress) $root.Values.redis.sentinel.existingSecret }}
- name: sentinel
  secret:
    secretName: {{ $root.Values.redis.sentinel.existingSecret }}
    defaultMode: 0440
    items:
      - { key: {{ $root.Values.redis.sentinel.key }}, path: password }
{{- end }}
{{- if and (has "mail" $row.egress) $root.Values.mail.existingSecret }}
- name: mail
  secret:
    secretName: {{ $root.Values.mail.existingSecret }}
    defaultMode: 0440
    items:
      - { key: {{ $root.Values.mail.key }}, path: url }
{{- end }}
{{- if and (has "public" $row.egress) $root.Values.proxy.existingSecret }}
- name: proxy
  secret:
    secretName: {{ $root.Values.proxy.existingSecret }}
    defaultMode: 0440
    items:
      - { key: {{ $root.Values.proxy.key }}, path: url }
{{- end }}
{{- if include "vitascope.hasTraceHeaders" $root }}
- name: tracing
  secret:
    secretName: {{ $secrets.tracing }}
    defaultMode: 0440
    items:
      - { key: {{ $root.Values.tracing.key }}, path: headers }
{{- end }}
{{- if and (has "oidc" $row.egress) $root.Values.oidc.existingSecret }}
- name: oidc
  secret:
    secretName: {{ $root.Values.oidc.existingSecret }}
    defaultMode: 0440
    items:
      - { key: {{ $root.Values.oidc.key }}, path: client-secret }
{{- end }}
{{- if and (has .name (list "analytics" "catalogue" "delivery")) $root.Values.countryDatabase.existingClaim }}
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
{{- $pod := fromYaml (include "vitascope.podValues" .) }}
startupProbe:
  httpGet: { path: /healthz, port: metrics }
  {{- toYaml $pod.startupProbe | nindent 2 }}
livenessProbe:
  httpGet: { path: /healthz, port: metrics }
  {{- toYaml $pod.livenessProbe | nindent 2 }}
readinessProbe:
  {{- if hasKey $row.ports "health" }}
  grpc: { port: {{ $row.ports.health }} }
  {{- else }}
  httpGet: { path: /readyz, port: metrics }
  {{- end }}
  {{- toYaml $pod.readinessProbe | nindent 2 }}
{{- end }}

{{/* Placement of pods. */}}
{{- define "vitascope.placement" -}}
{{- $pod := fromYaml (include "vitascope.podValues" .) }}
{{- with $pod.priorityClassName | default (include "vitascope.priorityClass" .) }}
priorityClassName: {{ . }}
{{- end }}
{{- include "vitascope.nodes" . | nindent 0 }}
{{- end }}

{{/*
Nodes, runtime class and names of a component's pods, including hook pods that run before the
release's priority classes exist.
*/}}
{{- define "vitascope.nodes" -}}
{{- $pod := fromYaml (include "vitascope.podValues" .) }}
{{- with $pod.runtimeClassName }}
runtimeClassName: {{ . }}
{{- end }}
{{- if ne $pod.dnsPolicy "ClusterFirst" }}
dnsPolicy: {{ $pod.dnsPolicy }}
{{- end }}
{{- with $pod.dnsConfig }}
dnsConfig:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with $pod.hostAliases }}
hostAliases:
  {{- toYaml . | nindent 2 }}
{{- end }}
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

{{/*
Annotation with which the cluster autoscaler removes a node in spite of the temporary folders of these
pods: (dict "root" $ "name" "auth").
*/}}
{{- define "vitascope.evictionAnnotation" -}}
{{- $folders := list }}
{{- range fromYamlArray (include "vitascope.volumes" .) }}{{ if hasKey . "emptyDir" }}{{ $folders = append $folders .name }}{{ end }}{{ end }}
{{- if include "vitascope.hasNginx" . }}
{{- range fromYamlArray (include "vitascope.nginxVolumes" .) }}{{ if hasKey . "emptyDir" }}{{ $folders = append $folders .name }}{{ end }}{{ end }}
{{- end }}
{{- "cluster-autoscaler.kubernetes.io/safe-to-evict-local-volumes" }}: {{ join "," $folders | quote }}
{{- end }}

{{/*
Annotations of pods whose work is lost when they are evicted: (dict "root" $ "name" "worker"). The
cluster autoscaler does not remove their node. They end by themselves. `pods.annotations` can replace
this one.
*/}}
{{- define "vitascope.unevictableAnnotations" -}}
{{- $pod := fromYaml (include "vitascope.podValues" .) }}
{{- merge (dict) ($pod.annotations | default dict) (dict "cluster-autoscaler.kubernetes.io/safe-to-evict" "false") | toYaml }}
{{- end }}

{{/*
Resources of a component's container. The scheduler does not count the size of temporary folders, so
`scratch.request` is added to the request.
*/}}
{{- define "vitascope.resources" -}}
{{- $values := index .root.Values .name }}
{{- $resources := deepCopy $values.resources }}
{{- $scratch := get $values "scratch" | default dict }}
{{- if and $scratch.request (not $scratch.storageClass) }}
{{- $own := get $resources.requests "ephemeral-storage" | default 0 }}
{{- $bytes := addf (include "vitascope.bytes" $own | float64) (include "vitascope.bytes" $scratch.request | float64) }}
{{- $_ := set $resources.requests "ephemeral-storage" (printf "%.0fMi" (ceil (divf $bytes 1048576))) }}
{{- end }}
{{- toYaml $resources }}
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
