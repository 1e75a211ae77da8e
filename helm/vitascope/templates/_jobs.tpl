{{/*
Pod template for Kubernetes Jobs, which encoding's executor reads: a worker pod in another
namespace, without a service account token.
*/}}
{{- define "vitascope.jobPod" -}}
{{- $worker := dict "root" . "name" "worker" "jobs" true }}
{{- $pod := fromYaml (include "vitascope.podValues" $worker) }}
metadata:
  labels:
    app.kubernetes.io/name: {{ include "vitascope.product" . }}
    app.kubernetes.io/part-of: vitascope
    {{- with $pod.labels }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
  annotations:
    vitascope/secrets-revision: {{ .Values.secrets.revision | quote }}
    {{- include "vitascope.unevictableAnnotations" $worker | nindent 4 }}
spec:
  serviceAccountName: {{ include "vitascope.jobsName" . }}
  automountServiceAccountToken: false
  enableServiceLinks: false
  restartPolicy: Never
  {{- with .Values.imagePullSecrets }}
  imagePullSecrets:
    {{- range . }}
    - name: {{ . }}
    {{- end }}
  {{- end }}
  securityContext:
    {{- include "vitascope.podSecurity" $worker | nindent 4 }}
  terminationGracePeriodSeconds: {{ add .Values.shutdown.drainSeconds 10 }}
  {{- include "vitascope.placement" $worker | nindent 2 }}
  containers:
    - name: worker
      image: {{ include "vitascope.image" (dict "root" . "image" "encoding") }}
      imagePullPolicy: {{ .Values.encodingImage.pullPolicy }}
      args: [{{ (fromYaml (include "vitascope.row" $worker)).program }}]
      env:
        {{- include "vitascope.env" $worker | nindent 8 }}
        {{- range $pod.env }}
        {{- if hasKey . "value" }}
        - {{ toJson . }}
        {{- end }}
        {{- end }}
      securityContext:
        {{- include "vitascope.jobSecurity" . | nindent 8 }}
      volumeMounts:
        {{- include "vitascope.mounts" $worker | nindent 8 }}
  volumes:
    {{- include "vitascope.volumes" $worker | nindent 4 }}
{{- end }}

{{/* Metadata of the resources that Kubernetes Jobs need, in the namespace in which the Jobs run. */}}
{{- define "vitascope.jobsMeta" -}}
name: {{ include "vitascope.jobsName" . }}
namespace: {{ .Values.encoding.executor.kubernetes.namespace }}
labels:
  {{- include "vitascope.labels" (dict "root" . "name" "encode") | nindent 2 }}
{{- end }}

{{/*
Formats a value as CEL, where lists and maps are homogeneous unless each element is `dyn`. Empty
values are omitted, because the API server omits them, too.
*/}}
{{- define "vitascope.cel" -}}
{{- $parts := list }}
{{- if kindIs "map" . }}
{{- range $key, $value := . }}
{{- if not (or (kindIs "invalid" $value) (and (empty $value) (or (kindIs "string" $value) (kindIs "slice" $value)))) }}
{{- $parts = append $parts (printf "%s: %s" (toJson $key) (include "vitascope.cel" $value)) }}
{{- end }}
{{- end }}
{{- printf "dyn({%s})" (join ", " $parts) }}
{{- else if kindIs "slice" . }}
{{- range . }}{{ $parts = append $parts (include "vitascope.cel" .) }}{{ end }}
{{- printf "dyn([%s])" (join ", " $parts) }}
{{- else }}
{{- printf "dyn(%s)" (toJson .) }}
{{- end }}
{{- end }}
