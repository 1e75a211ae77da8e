{{/*
Migrates the schema of a component before any pod of the new version starts, on install and on
upgrade. It is a hook with its own ServiceAccount and network policy, because those of the release
do not exist yet. If the database is part of the release, the pods migrate themselves.
*/}}
{{- define "vitascope.migration" -}}
{{- if not (include "vitascope.includesDatabase" .root) }}
{{- $root := .root }}
{{- $migration := dict "root" .root "name" (printf "%s-migrate" .name) }}
{{- if $root.Values.networkPolicy.enabled }}
---
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata:
  name: {{ include "vitascope.name" $migration }}
  labels:
    {{- include "vitascope.labels" $migration | nindent 4 }}
  annotations:
    helm.sh/hook: pre-install,pre-upgrade
    helm.sh/hook-weight: "-10"
    helm.sh/hook-delete-policy: before-hook-creation,hook-succeeded
spec:
  podSelector:
    matchLabels:
      {{- include "vitascope.selector" $migration | nindent 6 }}
  policyTypes: [Ingress, Egress]
  egress:
    {{- include "vitascope.dnsEgress" $root | nindent 4 }}
    {{- include "vitascope.externalEgress" (dict "root" $root "system" "database") | nindent 4 }}
{{- end }}
---
apiVersion: v1
kind: ServiceAccount
metadata:
  name: {{ include "vitascope.name" $migration }}
  labels:
    {{- include "vitascope.labels" $migration | nindent 4 }}
  annotations:
    helm.sh/hook: pre-install,pre-upgrade
    helm.sh/hook-weight: "-10"
    helm.sh/hook-delete-policy: before-hook-creation,hook-succeeded
automountServiceAccountToken: false
---
apiVersion: batch/v1
kind: Job
metadata:
  name: {{ include "vitascope.name" $migration }}
  labels:
    {{- include "vitascope.labels" $migration | nindent 4 }}
  annotations:
    helm.sh/hook: pre-install,pre-upgrade
    helm.sh/hook-weight: "0"
    # Helm reports a failed Job. Its logs are kept until the next attempt.
    helm.sh/hook-delete-policy: before-hook-creation,hook-succeeded
spec:
  backoffLimit: {{ $root.Values.migrations.backoffLimit }}
  activeDeadlineSeconds: {{ $root.Values.migrations.deadlineSeconds }}
  template:
    metadata:
      labels:
        {{- include "vitascope.labels" $migration | nindent 8 }}
        {{- with (fromYaml (include "vitascope.podValues" .)).labels }}
        {{- toYaml . | nindent 8 }}
        {{- end }}
      annotations:
        {{- include "vitascope.unevictableAnnotations" . | nindent 8 }}
    spec:
      restartPolicy: Never
      serviceAccountName: {{ include "vitascope.name" $migration }}
      automountServiceAccountToken: false
      enableServiceLinks: false
      {{- with $root.Values.imagePullSecrets }}
      imagePullSecrets:
        {{- range . }}
        - name: {{ . }}
        {{- end }}
      {{- end }}
      securityContext:
        {{- include "vitascope.podSecurity" . | nindent 8 }}
      {{- include "vitascope.nodes" (dict "root" .root "name" .name) | nindent 6 }}
      containers:
        - name: migrate
          {{- include "vitascope.migrateContainer" . | nindent 10 }}
      volumes:
        {{- include "vitascope.volumes" (dict "root" .root "name" .name "migrate" true) | nindent 8 }}
{{- end }}
{{- end }}
