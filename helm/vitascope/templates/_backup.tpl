{{/*
Pod that creates or restores a backup: (dict "root" $ "name" "backup" "args" (list …)). It has the
database login of every service, and all keys.
*/}}
{{- define "vitascope.backupPod" -}}
{{- $root := .root }}
{{- $values := $root.Values.backup }}
{{- $restores := eq .name "restore" }}
{{- $withKeys := or $restores $values.withSecrets }}
{{- $isBucket := eq $root.Values.storage.kind "s3" }}
{{- $owned := include "vitascope.stateful" $root | fromYamlArray }}
{{- $pod := fromYaml (include "vitascope.podValues" (dict "root" $root "name" "backup")) }}
metadata:
  labels:
    {{- include "vitascope.labels" . | nindent 4 }}
    {{- with $pod.labels }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
  annotations:
    {{- include "vitascope.unevictableAnnotations" (dict "root" $root "name" "backup") | nindent 4 }}
spec:
  restartPolicy: Never
  serviceAccountName: {{ include "vitascope.name" . }}
  automountServiceAccountToken: false
  enableServiceLinks: false
  {{- with $root.Values.imagePullSecrets }}
  imagePullSecrets:
    {{- range . }}
    - name: {{ . }}
    {{- end }}
  {{- end }}
  securityContext:
    {{- include "vitascope.podSecurity" (dict "root" $root "name" "backup") | nindent 4 }}
  {{- include "vitascope.nodes" (dict "root" $root "name" "backup") | nindent 2 }}
  containers:
    - name: {{ .name }}
      image: {{ include "vitascope.image" (dict "root" $root "image" "server") }}
      imagePullPolicy: {{ $root.Values.image.pullPolicy }}
      args: [apps/backup/src/main.ts, {{ .args | join ", " }}]
      env:
        - { name: VITASCOPE_LOG_LEVEL, value: {{ $root.Values.logLevel }} }
        # Empty; the pod has no data folder of `npm start`.
        - { name: VITASCOPE_DATA_DIR, value: /tmp/data }
        {{- if $root.Values.authorities.configMap }}
        - { name: NODE_EXTRA_CA_CERTS, value: /etc/vitascope/authorities/ca.crt }
        {{- end }}
        {{- range $owned }}
        - { name: VITASCOPE_{{ upper . }}_DATABASE_URL_FILE, value: /etc/vitascope/databases/{{ . }}/url }
        {{- end }}
        {{- if $withKeys }}
        {{- range list "master-key" "token-keys" "upload-signing-key" "idempotency-hash-key" }}
        - { name: VITASCOPE_{{ . | upper | replace "-" "_" }}_FILE, value: /etc/vitascope/keys/{{ . }} }
        {{- end }}
        {{- end }}
        {{- range $setting, $value := include "vitascope.settingsOfStorage" $root | fromYaml }}
        {{- if $value }}
        - { name: {{ $setting }}, value: {{ $value | quote }} }
        {{- end }}
        {{- end }}
        {{- with $pod.env }}
        {{- toYaml . | nindent 8 }}
        {{- end }}
      securityContext:
        {{- include "vitascope.containerSecurity" (dict "root" $root "name" "backup") | nindent 8 }}
      resources:
        {{- toYaml $values.resources | nindent 8 }}
      volumeMounts:
        - { name: tmp, mountPath: /tmp }
        - { name: backup, mountPath: /var/lib/vitascope/backup, readOnly: {{ $restores }} }
        {{- range $owned }}
        - { name: database-{{ . }}, mountPath: /etc/vitascope/databases/{{ . }}, readOnly: true }
        {{- end }}
        {{- if $withKeys }}
        - { name: keys, mountPath: /etc/vitascope/keys, readOnly: true }
        {{- end }}
        {{- if $root.Values.authorities.configMap }}
        - { name: authorities, mountPath: /etc/vitascope/authorities, readOnly: true }
        {{- end }}
        {{- if include "vitascope.hasStorageKeys" $root }}
        - { name: storage, mountPath: /etc/vitascope/storage, readOnly: true }
        {{- else if not $isBucket }}
        - { name: objects, mountPath: /var/lib/vitascope/objects, readOnly: {{ not $restores }} }
        {{- end }}
  volumes:
    - name: tmp
      emptyDir: { sizeLimit: 256Mi }
    - name: backup
      persistentVolumeClaim:
        claimName: {{ $values.existingClaim }}
    {{- range $owned }}
    {{- $database := fromYaml (include "vitascope.databaseSecret" (dict "root" $root "name" .)) }}
    - name: database-{{ . }}
      secret:
        secretName: {{ $database.secret }}
        defaultMode: 0440
        items:
          - { key: {{ $database.key }}, path: url }
    {{- end }}
    {{- if $withKeys }}
    - name: keys
      secret:
        secretName: {{ include "vitascope.keysSecret" $root }}
        defaultMode: 0440
        items:
          {{- range list "master-key" "token-keys" "upload-signing-key" "idempotency-hash-key" }}
          - { key: {{ . }}, path: {{ . }} }
          {{- end }}
    {{- end }}
    {{- with $root.Values.authorities }}
    {{- if .configMap }}
    - name: authorities
      configMap:
        name: {{ .configMap }}
        items:
          - { key: {{ .key }}, path: ca.crt }
    {{- end }}
    {{- end }}
    {{- if include "vitascope.hasStorageKeys" $root }}
    - name: storage
      secret:
        secretName: {{ $root.Values.storage.s3.existingSecrets.backup }}
        defaultMode: 0440
        items:
          - { key: {{ $root.Values.storage.s3.accessKeyIdKey }}, path: access-key-id }
          - { key: {{ $root.Values.storage.s3.secretAccessKeyKey }}, path: secret-access-key }
    {{- else if not $isBucket }}
    - name: objects
      persistentVolumeClaim:
        claimName: {{ include "vitascope.objectsClaim" $root }}
    {{- end }}
{{- end }}

{{/*
ServiceAccount and network policy of such a pod: egress to databases and objects, no ingress.
(dict "root" $ "name" "backup" "annotations" (dict)).
*/}}
{{- define "vitascope.backupDependencies" -}}
{{- $root := .root }}
{{- $own := (fromYaml (include "vitascope.podValues" (dict "root" $root "name" "backup"))).serviceAccountAnnotations }}
apiVersion: v1
kind: ServiceAccount
metadata:
  name: {{ include "vitascope.name" . }}
  labels:
    {{- include "vitascope.labels" . | nindent 4 }}
  {{- with merge (dict) (.annotations | default dict) ($own | default dict) }}
  annotations:
    {{- toYaml . | nindent 4 }}
  {{- end }}
automountServiceAccountToken: false
{{- if $root.Values.networkPolicy.enabled }}
---
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata:
  name: {{ include "vitascope.name" . }}
  labels:
    {{- include "vitascope.labels" . | nindent 4 }}
  {{- with .annotations }}
  annotations:
    {{- toYaml . | nindent 4 }}
  {{- end }}
spec:
  podSelector:
    matchLabels:
      {{- include "vitascope.selector" . | nindent 6 }}
  policyTypes: [Ingress, Egress]
  egress:
    {{- include "vitascope.dnsEgress" $root | nindent 4 }}
    {{- include "vitascope.externalEgress" (dict "root" $root "system" "database") | nindent 4 }}
    {{- include "vitascope.externalEgress" (dict "root" $root "system" "storage") | nindent 4 }}
    {{- include "vitascope.externalEgress" (dict "root" $root "system" "identity") | nindent 4 }}
{{- end }}
{{- end }}

{{/* Components with a schema, as a list. */}}
{{- define "vitascope.stateful" -}}
{{- $owned := list }}
{{- range $name, $row := fromYaml (include "vitascope.components" .) }}
{{- if has "database" $row.egress }}{{ $owned = append $owned $name }}{{ end }}
{{- end }}
{{- toYaml $owned }}
{{- end }}

{{/* Invalid combinations of backup values, in the format of vitascope.problems. */}}
{{- define "vitascope.problemsOfBackups" -}}
{{- $v := .Values }}
{{- if or $v.backup.enabled $v.backup.restore }}
{{- range $name := include "vitascope.stateful" . | fromYamlArray }}
{{- $values := index $v $name }}
{{- if not (or $values.enabled $values.database.existingSecret $v.database.existingSecret $v.database.cloudNativePg.cluster) }}
- a backup contains all services, but the database of {{ $name }} is not configured: set `{{ $name }}.database.existingSecret`, or create backups in the release in which {{ $name }} is enabled
{{- end }}
{{- end }}
{{- if not $v.encoding.enabled }}
- a backup contains the objects of encoding, which is not part of this release: set `backup.enabled` and `backup.restore` to false, and create backups in the release of encoding
{{- end }}
{{- end }}
{{- if and (or $v.backup.enabled $v.backup.restore) (not $v.backup.existingClaim) }}
- a backup has no volume: set `backup.existingClaim` to an existing claim (docs/operate/backup-and-restore.md), or `backup.enabled` and `backup.restore` to false
{{- end }}
{{- if and $v.backup.restore (include "vitascope.includesDatabase" .) }}
- a backup is restored before the database of this release exists: set `backup.restore` to false, or `database` to an existing database
{{- end }}
{{- if and $v.backup.restore (eq $v.storage.kind "files") (not $v.storage.files.existingClaim) }}
- a backup is restored before the claim of this release exists: set `storage.files.existingClaim` to an existing, empty claim
{{- end }}
{{- if and $v.backup.restore $v.secrets.generate }}
- a backup can only be read with its own keys: set `secrets.existingSecret` to a secret with the keys of the backup, and `secrets.generate` to false
{{- end }}
{{- end }}
