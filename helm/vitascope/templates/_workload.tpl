{{/* The Deployment of a component (a StatefulSet where each pod has a folder of its own): (dict "root" $ "name" "auth"). */}}
{{- define "vitascope.workload" -}}
{{- $root := .root }}
{{- $values := index $root.Values .name }}
{{- $own := include "vitascope.ownFolder" . }}
apiVersion: apps/v1
kind: {{ empty $own | ternary "Deployment" "StatefulSet" }}
metadata:
  name: {{ include "vitascope.name" . }}
  labels:
    {{- include "vitascope.labels" . | nindent 4 }}
spec:
  {{- if not $values.autoscaling.enabled }}
  replicas: {{ $values.replicas }}
  {{- end }}
  revisionHistoryLimit: 5
  {{- if $own }}
  serviceName: {{ include "vitascope.name" . }}
  podManagementPolicy: Parallel
  updateStrategy:
    type: RollingUpdate
  {{- else }}
  {{- include "vitascope.strategy" . | nindent 2 }}
  {{- end }}
  selector:
    matchLabels:
      {{- include "vitascope.selector" . | nindent 6 }}
  template:
    metadata:
      labels:
        {{- include "vitascope.podLabels" . | nindent 8 }}
      annotations:
        vitascope/secrets-version: {{ include "vitascope.secretsVersion" . | quote }}
        {{- if eq (include "vitascope.callsKubernetes" .) "yes" }}
        vitascope/jobs-version: {{ include "vitascope.jobPod" $root | sha256sum | trunc 16 | quote }}
        {{- end }}
        {{- with $values.pod.annotations }}
        {{- toYaml . | nindent 8 }}
        {{- end }}
    spec:
      {{- include "vitascope.podSpec" . | nindent 6 }}
  {{- if $own }}
  persistentVolumeClaimRetentionPolicy:
    whenDeleted: Retain
    whenScaled: Retain
  volumeClaimTemplates:
    - metadata:
        name: spool
      spec:
        accessModes: [ReadWriteOnce]
        {{- with $values.spool.storageClass }}
        storageClassName: {{ . }}
        {{- end }}
        resources:
          requests:
            storage: {{ $values.spool.size }}
  {{- end }}
{{- end }}

{{/* Workers that are started when there is work, and end when there is none. */}}
{{- define "vitascope.scaledJob" -}}
{{- $root := .root }}
{{- $values := $root.Values.worker }}
apiVersion: keda.sh/v1alpha1
kind: ScaledJob
metadata:
  name: {{ include "vitascope.name" . }}
  labels:
    {{- include "vitascope.labels" . | nindent 4 }}
spec:
  pollingInterval: {{ $values.scaledJob.pollingSeconds }}
  minReplicaCount: {{ $values.scaledJob.minReplicas }}
  maxReplicaCount: {{ $values.scaledJob.maxReplicas }}
  successfulJobsHistoryLimit: 5
  failedJobsHistoryLimit: 20
  # What runs is not ended by an upgrade: it ends when there is nothing to do.
  rollout:
    strategy: gradual
  jobTargetRef:
    backoffLimit: 0
    ttlSecondsAfterFinished: 600
    template:
      metadata:
        labels:
          {{- include "vitascope.podLabels" . | nindent 10 }}
        {{- with $values.pod.annotations }}
        annotations:
          {{- toYaml . | nindent 10 }}
        {{- end }}
      spec:
        restartPolicy: Never
        {{- include "vitascope.podSpec" . | nindent 8 }}
  triggers:
    - type: prometheus
      metadata:
        serverAddress: {{ $values.scaledJob.prometheus }}
        # Every replica of encoding tells the same of the queue; sources are fetched by encoding itself, and chunks are not for workers where Jobs make them.
        query: sum(max by (kind, state) (vitascope_encoding_queue_depth{namespace="{{ $root.Values.encoding.enabled | ternary $root.Release.Namespace $values.scaledJob.namespace }}",kind!{{ eq $root.Values.encoding.executor.kind "kubernetes" | ternary "~\"fetch|encode\"" "=\"fetch\"" }}}))
        threshold: {{ $values.scaledJob.tasksPerPod | quote }}
{{- end }}

{{- define "vitascope.podLabels" -}}
{{ include "vitascope.labels" . }}
vitascope/metrics: "true"
{{- with (index .root.Values .name).pod.labels }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{/* Non-empty where each pod has a folder of its own, that outlives it. */}}
{{- define "vitascope.ownFolder" -}}
{{- $row := fromYaml (include "vitascope.row" .) }}
{{- if and (has "spool" $row.folders) .root.Values.analytics.spool.enabled }}yes{{ end }}
{{- end }}

{{/* Old pods go when new ones serve. */}}
{{- define "vitascope.strategy" -}}
strategy:
  type: RollingUpdate
  rollingUpdate:
    maxUnavailable: 0
    maxSurge: {{ eq .name "worker" | ternary "25%" 1 }}
{{- end }}

{{- define "vitascope.podSpec" -}}
{{- $root := .root }}
{{- $values := index $root.Values .name }}
{{- $row := fromYaml (include "vitascope.row" .) }}
serviceAccountName: {{ include "vitascope.name" . }}
automountServiceAccountToken: {{ include "vitascope.callsKubernetes" . | eq "yes" }}
enableServiceLinks: false
{{- with $root.Values.imagePullSecrets }}
imagePullSecrets:
  {{- range . }}
  - name: {{ . }}
  {{- end }}
{{- end }}
securityContext:
  {{- include "vitascope.podSecurity" . | nindent 2 }}
terminationGracePeriodSeconds: {{ add $root.Values.shutdown.preStopSeconds $root.Values.shutdown.drainSeconds 10 }}
{{- include "vitascope.placement" . | nindent 0 }}
{{- include "vitascope.spread" . | nindent 0 }}
{{- if and $row.migrate (include "vitascope.databaseWithin" $root) }}
# The database comes with this release: no hook could have found it before this pod.
initContainers:
  - name: migrate
    {{- include "vitascope.migrateContainer" . | nindent 4 }}
{{- end }}
containers:
  - name: {{ .name }}
    image: {{ include "vitascope.image" (dict "root" $root "image" $row.image) }}
    imagePullPolicy: {{ (eq $row.image "encoding" | ternary $root.Values.encodingImage $root.Values.image).pullPolicy }}
    args: [{{ $row.program }}]
    ports:
      {{- range $port, $number := $row.ports }}
      - { name: {{ $port }}, containerPort: {{ $number }} }
      {{- end }}
    env:
      {{- include "vitascope.env" . | nindent 6 }}
    securityContext:
      {{- include "vitascope.containerSecurity" . | nindent 6 }}
    resources:
      {{- toYaml $values.resources | nindent 6 }}
    {{- include "vitascope.probes" . | nindent 4 }}
    lifecycle:
      # Callers hear of the end of this pod before it stops to answer.
      preStop:
        sleep: { seconds: {{ $root.Values.shutdown.preStopSeconds }} }
    volumeMounts:
      {{- include "vitascope.mounts" . | nindent 6 }}
volumes:
  {{- include "vitascope.volumes" . | nindent 2 }}
{{- end }}

{{/* "yes" for the one component that speaks with the Kubernetes API. */}}
{{- define "vitascope.callsKubernetes" -}}
{{- if and (eq .name "encoding") (include "vitascope.makesJobs" .root) }}yes{{ else }}no{{ end }}
{{- end }}

{{/* Brings the schema of a component up to date, and ends. */}}
{{- define "vitascope.migrateContainer" -}}
{{- $row := fromYaml (include "vitascope.row" .) -}}
image: {{ include "vitascope.image" (dict "root" .root "image" $row.image) }}
imagePullPolicy: {{ .root.Values.image.pullPolicy }}
args: [{{ $row.migrate }}, --wait]
env:
  - name: VITASCOPE_{{ upper .name }}_DATABASE_URL_FILE
    value: /etc/vitascope/database/url
  - name: VITASCOPE_LOG_LEVEL
    value: {{ .root.Values.logLevel }}
  {{- if .root.Values.authorities.configMap }}
  - name: NODE_EXTRA_CA_CERTS
    value: /etc/vitascope/authorities/ca.crt
  {{- end }}
securityContext:
  {{- include "vitascope.containerSecurity" . | nindent 2 }}
resources:
  {{- toYaml .root.Values.migrations.resources | nindent 2 }}
volumeMounts:
  {{- include "vitascope.mounts" (dict "root" .root "name" .name "migrate" true) | nindent 2 }}
{{- end }}

{{/* The services of a component's ports: calls by a headless one, the rest by ordinary ones. */}}
{{- define "vitascope.services" -}}
{{- $root := .root }}
{{- $row := fromYaml (include "vitascope.row" .) }}
{{- $name := .name }}
{{- range $port := list "grpc" "http" "upload" }}
{{- if hasKey $row.ports $port }}
---
apiVersion: v1
kind: Service
metadata:
  name: {{ include "vitascope.serviceName" (dict "root" $root "name" $name "port" $port) }}
  labels:
    {{- include "vitascope.labels" (dict "root" $root "name" $name) | nindent 4 }}
spec:
  type: ClusterIP
  {{- if eq $port "grpc" }}
  clusterIP: None
  {{- end }}
  selector:
    {{- include "vitascope.selector" (dict "root" $root "name" $name) | nindent 4 }}
  ports:
    - name: {{ $port }}
      port: {{ index $row.ports $port }}
      targetPort: {{ $port }}
      {{- /* Plain HTTP/2 without TLS alone; a mesh that took TLS for it would break it. */}}
      {{- if and (eq $port "grpc") (eq $root.Values.tls.mode "none") }}
      appProtocol: kubernetes.io/h2c
      {{- end }}
{{- end }}
{{- end }}
{{- end }}

{{/* How many pods: a disruption budget, and a scaler where the values want one. */}}
{{- define "vitascope.scaling" -}}
{{- $values := index .root.Values .name }}
{{- $own := include "vitascope.ownFolder" . }}
{{- if $values.disruptionBudget.enabled }}
---
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata:
  name: {{ include "vitascope.name" . }}
  labels:
    {{- include "vitascope.labels" . | nindent 4 }}
spec:
  maxUnavailable: {{ $values.disruptionBudget.maxUnavailable }}
  # A pod that is not ready serves nobody: it does not hold up the drain of a node.
  unhealthyPodEvictionPolicy: AlwaysAllow
  selector:
    matchLabels:
      {{- include "vitascope.selector" . | nindent 6 }}
{{- end }}
{{- if $values.autoscaling.enabled }}
---
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata:
  name: {{ include "vitascope.name" . }}
  labels:
    {{- include "vitascope.labels" . | nindent 4 }}
spec:
  scaleTargetRef:
    apiVersion: apps/v1
    kind: {{ empty $own | ternary "Deployment" "StatefulSet" }}
    name: {{ include "vitascope.name" . }}
  minReplicas: {{ $values.autoscaling.minReplicas }}
  maxReplicas: {{ $values.autoscaling.maxReplicas }}
  metrics:
    - type: Resource
      resource:
        name: cpu
        target:
          type: Utilization
          averageUtilization: {{ $values.autoscaling.cpuPercent }}
  behavior:
    scaleDown:
      stabilizationWindowSeconds: 300
{{- end }}
{{- end }}
