{{/* Identity of a component: a ServiceAccount without a token, and a certificate. */}}
{{- define "vitascope.identity" -}}
apiVersion: v1
kind: ServiceAccount
metadata:
  name: {{ include "vitascope.name" . }}
  labels:
    {{- include "vitascope.labels" . | nindent 4 }}
  {{- with (fromYaml (include "vitascope.podValues" .)).serviceAccountAnnotations }}
  annotations:
    {{- toYaml . | nindent 4 }}
  {{- end }}
automountServiceAccountToken: false
{{- if eq .root.Values.tls.mode "certManager" }}
---
apiVersion: cert-manager.io/v1
kind: Certificate
metadata:
  name: {{ include "vitascope.name" . }}
  labels:
    {{- include "vitascope.labels" . | nindent 4 }}
spec:
  secretName: {{ include "vitascope.tlsSecret" . }}
  duration: {{ .root.Values.tls.certManager.duration }}
  renewBefore: {{ .root.Values.tls.certManager.renewBefore }}
  privateKey:
    algorithm: ECDSA
    size: 256
    rotationPolicy: Always
  usages: [digital signature, server auth, client auth]
  # Other services identify a caller by the first name.
  dnsNames:
    - {{ .name }}
    - {{ include "vitascope.name" . }}
    - {{ include "vitascope.name" . }}.{{ .root.Release.Namespace }}
    - {{ include "vitascope.name" . }}.{{ .root.Release.Namespace }}.svc
    - {{ include "vitascope.name" . }}.{{ .root.Release.Namespace }}.svc.{{ .root.Values.clusterDomain }}
  issuerRef:
    {{- with .root.Values.tls.certManager.issuer }}
    name: {{ .name | default (printf "%s-ca" (include "vitascope.fullname" $.root)) }}
    kind: {{ .kind }}
    group: {{ .group }}
    {{- end }}
{{- end }}
{{- end }}
