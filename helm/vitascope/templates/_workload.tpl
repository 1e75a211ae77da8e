{{/*
Deployment of a component, or a StatefulSet if each pod has its own data folder: (dict "root" $
"name" "auth").
*/}}
{{- define "vitascope.workload" -}}
{{- $root := .root }}
{{- $pod := fromYaml (include "vitascope.podValues" .) }}
{{- $values := index $root.Values .name }}
{{- $ownFolder := include "vitascope.ownFolder" . }}
apiVersion: apps/v1
kind: {{ empty $ownFolder | ternary "Deployment" "StatefulSet" }}
metadata:
  name: {{ include "vitascope.name" . }}
  labels:
    {{- include "vitascope.labels" . | nindent 4 }}
spec:
  {{- if not $values.autoscaling.enabled }}
  replicas: {{ $values.replicas }}
  {{- end }}
  revisionHistoryLimit: 5
  {{- if $ownFolder }}
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
        {{- if include "vitascope.hasNginx" . }}
        vitascope/nginx-version: {{ printf "%s%s" (include "vitascope.nginxMain" $root) (include "vitascope.nginxServer" $root) | sha256sum | trunc 16 | quote }}
        {{- end }}
        {{- merge (dict) ($pod.annotations | default dict) (fromYaml (include "vitascope.evictionAnnotation" .)) | toYaml | nindent 8 }}
    spec:
      {{- include "vitascope.podSpec" . | nindent 6 }}
  {{- if $ownFolder }}
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

{{/* Workers that KEDA starts when tasks are waiting, and that exit when they are idle. */}}
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
  # An upgrade does not stop running workers. They exit when they are idle.
  rollout:
    strategy: gradual
  jobTargetRef:
    backoffLimit: 0
    ttlSecondsAfterFinished: 600
    template:
      metadata:
        labels:
          {{- include "vitascope.podLabels" . | nindent 10 }}
        annotations:
          {{- include "vitascope.unevictableAnnotations" . | nindent 10 }}
      spec:
        restartPolicy: Never
        {{- include "vitascope.podSpec" . | nindent 8 }}
  triggers:
    - type: prometheus
      metadata:
        serverAddress: {{ $values.scaledJob.prometheus }}
        query: {{ include "vitascope.workersQuery" $root }}
        threshold: {{ eq $values.scaledJob.metric "seconds" | ternary $values.scaledJob.secondsPerPod $values.scaledJob.tasksPerPod | quote }}
{{- end }}

{{/*
Query for the work of workers: the number of tasks, or their expected CPU seconds and those of waiting
sources. Every replica of encoding reports the same queue. Encoding fetches sources itself. If
Kubernetes Jobs encode the chunks, neither chunks nor sources, which consist of chunks, are counted.
*/}}
{{- define "vitascope.workersQuery" -}}
{{- $namespace := .Values.encoding.enabled | ternary .Release.Namespace .Values.worker.scaledJob.namespace }}
{{- $byJobs := eq .Values.encoding.executor.kind "kubernetes" }}
{{- if eq .Values.worker.scaledJob.metric "seconds" }}
{{- printf "sum(max by (kind) (vitascope_encoding_queue_work_seconds{namespace=%q%s}))" $namespace ($byJobs | ternary ",kind!~\"source|encode\"" "") }}
{{- else }}
{{- printf "sum(max by (kind, state) (vitascope_encoding_queue_depth{namespace=%q,kind!~%q}))" $namespace ($byJobs | ternary "fetch.*|encode" "fetch.*") }}
{{- end }}
{{- end }}

{{- define "vitascope.podLabels" -}}
{{ include "vitascope.labels" . }}
vitascope/metrics: "true"
{{- with (fromYaml (include "vitascope.podValues" .)).labels }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{/* Non-empty if each pod has its own persistent data folder. */}}
{{- define "vitascope.ownFolder" -}}
{{- $row := fromYaml (include "vitascope.row" .) }}
{{- if and (has "spool" $row.volumes) .root.Values.analytics.spool.enabled }}yes{{ end }}
{{- end }}

{{/* Old pods are removed when new pods are ready. */}}
{{- define "vitascope.strategy" -}}
strategy:
  type: RollingUpdate
  rollingUpdate:
    maxUnavailable: 0
    maxSurge: {{ eq .name "worker" | ternary "25%" 1 }}
{{- end }}

{{- define "vitascope.podSpec" -}}
{{- $root := .root }}
{{- $pod := fromYaml (include "vitascope.podValues" .) }}
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
{{- $migrates := and $row.migrate (include "vitascope.includesDatabase" $root) }}
{{- if or $migrates $pod.initContainers }}
initContainers:
  {{- if $migrates }}
  # The database is part of this release, so a hook could not migrate it before this pod starts.
  - name: migrate
    {{- include "vitascope.migrateContainer" . | nindent 4 }}
  {{- end }}
  {{- with $pod.initContainers }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- end }}
containers:
  - name: {{ .name }}
    image: {{ include "vitascope.image" (dict "root" $root "image" $row.image) }}
    imagePullPolicy: {{ (eq $row.image "encoding" | ternary $root.Values.encodingImage $root.Values.image).pullPolicy }}
    args: [{{ append ($row.nodeOptions | default list) $row.program | join ", " }}]
    ports:
      {{- $nginx := include "vitascope.hasNginx" . }}
      {{- range $port, $number := $row.ports }}
      {{- if and $nginx (eq $port "public") }}{{ continue }}{{ end }}
      - { name: {{ $port }}, containerPort: {{ $number }} }
      {{- end }}
    env:
      {{- include "vitascope.env" . | nindent 6 }}
      {{- with $pod.env }}
      {{- toYaml . | nindent 6 }}
      {{- end }}
    securityContext:
      {{- include "vitascope.containerSecurity" . | nindent 6 }}
    resources:
      {{- include "vitascope.resources" . | nindent 6 }}
    {{- include "vitascope.probes" . | nindent 4 }}
    lifecycle:
      # Services remove this pod before it stops accepting calls. nginx stops before delivery.
      preStop:
        sleep: { seconds: {{ add $root.Values.shutdown.preStopSeconds (empty $nginx | ternary 0 2) }} }
    volumeMounts:
      {{- include "vitascope.mounts" . | nindent 6 }}
      {{- with $pod.volumeMounts }}
      {{- toYaml . | nindent 6 }}
      {{- end }}
  {{- if include "vitascope.hasNginx" . }}
  {{- include "vitascope.nginxContainer" . | nindent 2 }}
  {{- end }}
  {{- with $pod.containers }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
volumes:
  {{- include "vitascope.volumes" . | nindent 2 }}
  {{- with $pod.volumes }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
  {{- if include "vitascope.hasNginx" . }}
  {{- include "vitascope.nginxVolumes" . | nindent 2 }}
  {{- end }}
{{- end }}

{{/* "yes" for the only component that uses the Kubernetes API. */}}
{{- define "vitascope.callsKubernetes" -}}
{{- if and (eq .name "encoding") (include "vitascope.createsJobs" .root) }}yes{{ else }}no{{ end }}
{{- end }}

{{/* Container that migrates the schema of a component and exits. */}}
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

{{/* Services of a component's ports: a headless one for gRPC, ordinary ones for the rest. */}}
{{- define "vitascope.services" -}}
{{- $root := .root }}
{{- $row := fromYaml (include "vitascope.row" .) }}
{{- $name := .name }}
{{- range $port := list "grpc" "http" "upload" "public" }}
{{- if hasKey $row.ports $port }}
---
apiVersion: v1
kind: Service
metadata:
  name: {{ include "vitascope.serviceName" (dict "root" $root "name" $name "port" $port) }}
  labels:
    {{- include "vitascope.labels" (dict "root" $root "name" $name) | nindent 4 }}
  {{- $service := dict }}
  {{- if or (include "vitascope.isPublic" $name) (eq $port "public") }}{{ $service = (index $root.Values $name).service }}{{ end }}
  {{- with $service.annotations }}
  annotations:
    {{- toYaml . | nindent 4 }}
  {{- end }}
spec:
  type: {{ $service.type | default "ClusterIP" }}
  {{- if eq $port "grpc" }}
  clusterIP: None
  {{- end }}
  {{- if ne ($service.type | default "ClusterIP") "ClusterIP" }}
  externalTrafficPolicy: {{ $service.externalTrafficPolicy }}
  {{- end }}
  {{- if eq ($service.type | default "") "LoadBalancer" }}
  {{- with $service.loadBalancerClass }}
  loadBalancerClass: {{ . }}
  {{- end }}
  {{- with $service.loadBalancerSourceRanges }}
  loadBalancerSourceRanges:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- end }}
  selector:
    {{- include "vitascope.selector" (dict "root" $root "name" $name) | nindent 4 }}
  ports:
    - name: {{ $port }}
      port: {{ index $row.ports $port }}
      targetPort: {{ $port }}
      {{- /*
Set only for plain HTTP/2: a service mesh that treats TLS as plain HTTP/2 would break it.
*/}}
      {{- if and (eq $port "grpc") (eq $root.Values.tls.mode "none") }}
      appProtocol: kubernetes.io/h2c
      {{- end }}
{{- end }}
{{- end }}
{{- end }}

{{/* Disruption budget, and a HorizontalPodAutoscaler if enabled. */}}
{{- define "vitascope.scaling" -}}
{{- $values := index .root.Values .name }}
{{- $ownFolder := include "vitascope.ownFolder" . }}
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
  # Pods that are not ready do not block the drain of a node.
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
    kind: {{ empty $ownFolder | ternary "Deployment" "StatefulSet" }}
    name: {{ include "vitascope.name" . }}
  minReplicas: {{ $values.autoscaling.minReplicas }}
  maxReplicas: {{ $values.autoscaling.maxReplicas }}
  metrics:
    # Not in percent of the request: a process uses about one core, whatever it requests. Other
    # containers of the pod do not count.
    - type: ContainerResource
      containerResource:
        name: cpu
        container: {{ .name }}
        target:
          type: AverageValue
          averageValue: {{ mul 10 $values.autoscaling.cpuPercent }}m
    {{- if include "vitascope.hasNginx" . }}
    - type: ContainerResource
      containerResource:
        name: cpu
        container: nginx
        target:
          type: AverageValue
          averageValue: {{ mul 20 $values.autoscaling.cpuPercent }}m
    {{- end }}
  behavior:
    scaleDown:
      stabilizationWindowSeconds: 300
{{- end }}
{{- end }}
