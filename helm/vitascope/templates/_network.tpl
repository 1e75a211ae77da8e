{{/*
Ingress and egress of a component: the connections of the component table, DNS, and nothing else.
Probes of the kubelet come from the node and are always allowed.
*/}}
{{- define "vitascope.networkPolicy" -}}
{{- if .root.Values.networkPolicy.enabled }}
{{- $root := .root }}
{{- $name := .name }}
{{- $row := fromYaml (include "vitascope.row" .) }}
---
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata:
  name: {{ include "vitascope.name" . }}
  labels:
    {{- include "vitascope.labels" . | nindent 4 }}
spec:
  podSelector:
    matchLabels:
      {{- include "vitascope.selector" . | nindent 6 }}
  policyTypes: [Ingress, Egress]
  {{- with include "vitascope.ingressRules" . | trim }}
  ingress:
    {{- . | nindent 4 }}
  {{- end }}
  egress:
    {{- include "vitascope.dnsEgress" $root | trim | nindent 4 }}
    {{- range $row.calls }}
    {{- $callee := splitList "/" . }}
    {{- $ports := (fromYaml (include "vitascope.row" (dict "root" $root "name" (first $callee)))).ports }}
    - ports:
        - { port: {{ index $ports (last $callee) }}, protocol: TCP }
      to:
        {{- include "vitascope.peer" (dict "root" $root "name" (first $callee)) | trim | nindent 8 }}
    {{- end }}
    {{- range include "vitascope.outsideSystems" (dict "root" $root "name" $name) | fromYamlArray }}
    {{- with include "vitascope.externalEgress" (dict "root" $root "system" .) | trim }}
    {{- . | nindent 4 }}
    {{- end }}
    {{- end }}
    {{- if eq (include "vitascope.callsKubernetes" (dict "root" $root "name" $name)) "yes" }}
    - to:
        {{- toYaml $root.Values.networkPolicy.peers.kubernetesApi | nindent 8 }}
      {{- include "vitascope.peerPorts" (dict "root" $root "system" "kubernetesApi") | nindent 6 }}
    {{- end }}
{{- end }}
{{- end }}

{{/* Ingress rules; empty if there are none. */}}
{{- define "vitascope.ingressRules" -}}
{{- $root := .root }}
{{- $name := .name }}
{{- $row := fromYaml (include "vitascope.row" .) }}
{{- range $port := list "grpc" "http" "upload" "public" }}
{{- if hasKey $row.ports $port }}
{{- $peers := include "vitascope.callerPeers" (dict "root" $root "name" $name "port" $port) | trim }}
{{- if or (include "vitascope.isPublic" $name) (eq $port "public") }}
- ports:
    - { port: {{ $port }}, protocol: TCP }
  {{- with $root.Values.networkPolicy.ingressFrom }}
  from:
    {{- toYaml . | nindent 4 }}
  {{- end }}
{{- if and (has $name (list "gateway" "delivery")) (include "vitascope.hasTest" $root) }}
- ports:
    - { port: {{ $port }}, protocol: TCP }
  from:
    - podSelector:
        matchLabels:
          {{- include "vitascope.selector" (dict "root" $root "name" "test") | nindent 10 }}
{{- end }}
{{- else if $peers }}
- ports:
    - { port: {{ $port }}, protocol: TCP }
  from:
    {{- $peers | nindent 4 }}
{{- end }}
{{- end }}
{{- end }}
{{- with $root.Values.networkPolicy.metricsFrom }}
- ports:
    - { port: metrics, protocol: TCP }
  from:
    {{- toYaml . | nindent 4 }}
{{- end }}
{{- end }}

{{/* Pods that call a port: (dict "root" $ "name" "auth" "port" "grpc"). */}}
{{- define "vitascope.callerPeers" -}}
{{- range (fromYaml (include "vitascope.callers" .)).names }}
{{- with include "vitascope.peer" (dict "root" $.root "name" .) | trim }}
{{ . }}
{{- end }}
{{- end }}
{{- if and (eq .name "encoding") (eq .port "grpc") (include "vitascope.createsJobs" .root) }}
- namespaceSelector:
    matchLabels:
      kubernetes.io/metadata.name: {{ .root.Values.encoding.executor.kubernetes.namespace }}
  podSelector:
    matchLabels:
      {{- include "vitascope.jobsSelector" .root | nindent 6 }}
{{- end }}
{{- end }}

{{/* Clients from outside connect to gateway, web and the port `public` of delivery only. */}}
{{- define "vitascope.isPublic" -}}
{{- if has . (list "gateway" "web") }}yes{{ end }}
{{- end }}

{{/*
Pods of a component: those of this release, or, if it is not part of the release, those in
`networkPolicy.otherNamespaces`.
*/}}
{{- define "vitascope.peer" -}}
{{- if (index .root.Values .name).enabled -}}
- podSelector:
    matchLabels:
      {{- include "vitascope.selector" . | nindent 6 }}
{{- else -}}
{{- $name := .name }}
{{- range .root.Values.networkPolicy.otherNamespaces }}
- namespaceSelector:
    matchLabels:
      kubernetes.io/metadata.name: {{ . }}
  podSelector:
    matchLabels:
      app.kubernetes.io/part-of: vitascope
      app.kubernetes.io/component: {{ $name }}
{{- end }}
{{- end }}
{{- end }}

{{/* DNS of the cluster. */}}
{{- define "vitascope.dnsEgress" -}}
- ports:
    {{- range .Values.networkPolicy.ports.dns }}
    - { port: {{ . }}, protocol: UDP }
    - { port: {{ . }}, protocol: TCP }
    {{- end }}
  to:
    {{- toYaml .Values.networkPolicy.peers.dns | nindent 4 }}
{{- end }}

{{/* Ports of a system outside of the release; empty if all are allowed. */}}
{{- define "vitascope.peerPorts" -}}
{{- with index .root.Values.networkPolicy.ports .system }}
ports:
  {{- range . }}
  - { port: {{ . }}, protocol: TCP }
  {{- end }}
{{- end }}
{{- end }}

{{/*
Outside systems of a component, as a list. With a proxy, only catalogue connects to public addresses, for
webhooks: (dict "root" $ "name" "encoding").
*/}}
{{- define "vitascope.outsideSystems" -}}
{{- $systems := list }}
{{- range (fromYaml (include "vitascope.row" .)).egress }}
{{- if not (and (eq . "public") (eq $.name "encoding") (include "vitascope.hasProxy" $.root)) }}{{ $systems = append $systems . }}{{ end }}
{{- if eq . "public" }}{{ $systems = append $systems "proxy" }}{{ end }}
{{- if eq . "storage" }}{{ $systems = append $systems "identity" }}{{ end }}
{{- end }}
{{- $systems = append $systems "tracing" }}
{{- toYaml $systems }}
{{- end }}

{{/* Rule for one system outside of the release: (dict "root" $ "system" "database"). */}}
{{- define "vitascope.externalEgress" -}}
{{- $values := .root.Values }}
{{- $peers := $values.networkPolicy.peers }}
{{- if eq .system "database" }}
- to:
    {{- if $values.evaluation.postgres.enabled }}
    - podSelector:
        matchLabels:
          {{- include "vitascope.selector" (dict "root" .root "name" "postgres") | nindent 10 }}
    {{- end }}
    {{- with $values.database.cloudNativePg.cluster }}
    - podSelector:
        matchLabels:
          cnpg.io/cluster: {{ . }}
    {{- end }}
    {{- if and $values.database.cloudNativePg.create (gt (int $values.database.cloudNativePg.pooler.instances) 0) }}
    - podSelector:
        matchLabels:
          cnpg.io/poolerName: {{ $values.database.cloudNativePg.cluster }}-pooler
    {{- end }}
    {{- with $peers.database }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
  {{- include "vitascope.peerPorts" . | nindent 2 }}
{{- else if and (eq .system "storage") (eq $values.storage.kind "s3") }}
- to:
    {{- toYaml $peers.storage | nindent 4 }}
  {{- include "vitascope.peerPorts" . | nindent 2 }}
{{- else if and (eq .system "identity") (eq $values.storage.kind "s3") (eq $values.storage.s3.credentials "identity") }}
- to:
    {{- toYaml $peers.identity | nindent 4 }}
  {{- include "vitascope.peerPorts" . | nindent 2 }}
{{- else if and (eq .system "proxy") (include "vitascope.hasProxy" .root) }}
- to:
    {{- toYaml $peers.proxy | nindent 4 }}
  {{- include "vitascope.peerPorts" . | nindent 2 }}
{{- else if and (eq .system "redis") (include "vitascope.hasRedis" .root) }}
- to:
    {{- toYaml $peers.redis | nindent 4 }}
  {{- include "vitascope.peerPorts" . | nindent 2 }}
{{- else if and (eq .system "mail") $values.mail.existingSecret }}
- to:
    {{- toYaml $peers.mail | nindent 4 }}
  {{- include "vitascope.peerPorts" . | nindent 2 }}
{{- else if and (eq .system "oidc") $values.oidc.issuer }}
- to:
    {{- toYaml $peers.oidc | nindent 4 }}
  {{- include "vitascope.peerPorts" . | nindent 2 }}
{{- else if and (eq .system "tracing") $values.tracing.endpoint }}
- to:
    {{- toYaml $peers.tracing | nindent 4 }}
  {{- include "vitascope.peerPorts" . | nindent 2 }}
{{- else if eq .system "public" }}
# The ports and networks that libs/fetch allows. libs/fetch also checks each address itself.
- ports:
    - { port: 80, protocol: TCP }
    - { port: 443, protocol: TCP }
    - { port: 1024, endPort: 65535, protocol: TCP }
  to:
    - ipBlock:
        cidr: 0.0.0.0/0
        except: [0.0.0.0/8, 10.0.0.0/8, 100.64.0.0/10, 127.0.0.0/8, 169.254.0.0/16, 172.16.0.0/12, 192.0.0.0/24, 192.0.2.0/24, 192.88.99.0/24, 192.168.0.0/16, 198.18.0.0/15, 198.51.100.0/24, 203.0.113.0/24, 224.0.0.0/4, 240.0.0.0/4]
    - ipBlock:
        cidr: 2000::/3
        except: ["2001::/23", "2001:db8::/32", "2002::/16"]
    {{- range $values.sourceAllow }}
    - ipBlock: { cidr: {{ . | quote }} }
    {{- end }}
{{- end }}
{{- end }}
