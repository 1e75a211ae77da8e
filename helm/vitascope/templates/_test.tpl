{{/* Non-empty if `helm test` has a pod: the test sends requests to the gateway of the release. */}}
{{- define "vitascope.hasTest" -}}
{{- if and .Values.test.enabled .Values.gateway.enabled }}yes{{ end }}
{{- end }}

{{/*
URL below which the test loads media files: that of delivery if viewers reach it without the gateway.
Otherwise the gateway forwards these requests.
*/}}
{{- define "vitascope.testMediaUrl" -}}
{{- $port := and .Values.delivery.enabled .Values.delivery.direct | ternary (dict "root" . "name" "delivery" "port" "public") (dict "root" . "name" "gateway" "port" "http") }}
{{- printf "http://%s" (include "vitascope.address" $port) }}
{{- end }}

{{/* Pod of `helm test`: (dict "root" $ "name" "test"). */}}
{{- define "vitascope.testPod" -}}
{{- $root := .root }}
{{- $values := $root.Values.test }}
{{- $pod := fromYaml (include "vitascope.podValues" .) }}
restartPolicy: Never
activeDeadlineSeconds: {{ add $values.timeoutSeconds 120 }}
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
  {{- include "vitascope.podSecurity" . | nindent 2 }}
{{- include "vitascope.placement" . | nindent 0 }}
containers:
  - name: test
    image: {{ include "vitascope.image" (dict "root" $root "image" "server") }}
    imagePullPolicy: {{ $root.Values.image.pullPolicy }}
    args:
      - apps/gateway/src/release-test/main.ts
      - --url=http://{{ include "vitascope.address" (dict "root" $root "name" "gateway" "port" "http") }}
      - --media-url={{ include "vitascope.testMediaUrl" $root }}
      - --key-file=/etc/vitascope/keys/system-key
      - --organisation={{ $values.organisationId }}
      - --timeout={{ $values.timeoutSeconds }}
    {{- if or $root.Values.authorities.configMap $pod.env }}
    env:
      {{- if $root.Values.authorities.configMap }}
      - { name: NODE_EXTRA_CA_CERTS, value: /etc/vitascope/authorities/ca.crt }
      {{- end }}
      {{- with $pod.env }}
      {{- toYaml . | nindent 6 }}
      {{- end }}
    {{- end }}
    securityContext:
      {{- include "vitascope.containerSecurity" . | nindent 6 }}
    resources:
      {{- toYaml $values.resources | nindent 6 }}
    volumeMounts:
      - { name: tmp, mountPath: /tmp }
      - { name: keys, mountPath: /etc/vitascope/keys, readOnly: true }
      {{- if $root.Values.authorities.configMap }}
      - { name: authorities, mountPath: /etc/vitascope/authorities, readOnly: true }
      {{- end }}
volumes:
  - name: tmp
    emptyDir: { sizeLimit: 256Mi }
  - name: keys
    secret:
      secretName: {{ include "vitascope.keysSecret" $root }}
      defaultMode: 0440
      items:
        - { key: system-key, path: system-key }
  {{- with $root.Values.authorities }}
  {{- if .configMap }}
  - name: authorities
    configMap:
      name: {{ .configMap }}
      items:
        - { key: {{ .key }}, path: ca.crt }
  {{- end }}
  {{- end }}
{{- end }}
