{{/*
nginx in the pods of delivery, which sends the files that delivery admits (`delivery.nginx`).
*/}}

{{/* Main configuration of nginx. Responses of delivery stay in memory and are never written to /tmp. */}}
{{- define "vitascope.nginxMain" -}}
worker_processes 2;
# The soft limit of some container runtimes is 1024.
worker_rlimit_nofile 16384;
pid /tmp/nginx.pid;
error_log stderr warn;
events { worker_connections 8192; }
http {
  access_log off;
  keepalive_requests 100000;
  client_max_body_size 8k;
  client_body_buffer_size 8k;
  proxy_max_temp_file_size 0;
  client_body_temp_path /tmp/client-body;
  proxy_temp_path /tmp/proxy;
  fastcgi_temp_path /tmp/fastcgi;
  uwsgi_temp_path /tmp/uwsgi;
  scgi_temp_path /tmp/scgi;
  include /etc/vitascope/nginx/server.conf;
}
{{- end }}

{{/* Loopback address of the pod, in the address family of `listenHost`. */}}
{{- define "vitascope.loopback" -}}
{{- contains ":" .Values.listenHost | ternary "[::1]" "127.0.0.1" }}
{{- end }}

{{/*
Bucket as {scheme, host, name, server, resolve}. `host` is part of the signature of URLs, so it has
no default port. `server` always has a port. `resolve` is set for names whose addresses can change.
Names of Services are resolved at the start, because their address is fixed, and because only the
resolver of the system knows the search domains.
*/}}
{{- define "vitascope.nginxBucket" -}}
{{- $s3 := .Values.storage.s3 }}
{{- $url := urlParse (lower $s3.endpoint) }}
{{- $port := eq $url.scheme "https" | ternary ":443" ":80" }}
{{- $prefix := $s3.virtualHost | ternary (printf "%s." $s3.bucket) "" }}
{{- $host := printf "%s%s" $prefix (trimSuffix $port $url.host) }}
{{- $isAddress := or (contains ":" $url.hostname) (regexMatch "^[0-9.]+$" $url.hostname) }}
{{- $isService := or (not (contains "." $url.hostname)) (hasSuffix ".svc" $url.hostname) (hasSuffix (printf ".svc.%s" .Values.clusterDomain) $url.hostname) }}
scheme: {{ $url.scheme }}
host: {{ $host | quote }}
name: {{ printf "%s%s" $prefix $url.hostname | quote }}
server: {{ regexMatch ":[0-9]+$" $host | ternary $host (printf "%s%s" $host $port) | quote }}
resolve: {{ not (or $isAddress $isService) }}
{{- end }}

{{/*
Server of nginx: files.conf or bucket.conf of deploy/nginx, with the addresses and the size of the
cache of this release. The chart has copies of both in nginx/ (`npm run generate`).
*/}}
{{- define "vitascope.nginxServer" -}}
{{- range .Values.trustedProxies }}
set_real_ip_from {{ . }};
{{- end }}
real_ip_header X-Forwarded-For;
real_ip_recursive on;
{{- $isBucket := eq .Values.storage.kind "s3" }}
{{- $config := .Files.Get ($isBucket | ternary "nginx/bucket.conf" "nginx/files.conf")
      | replace "server delivery:8082;" (printf "server %s:8083;" (include "vitascope.loopback" .))
      | replace "listen 8080;" (printf "listen %s;" (eq .Values.listenHost "0.0.0.0" | ternary "8082" (printf "%s:8082" .Values.listenHost))) }}
{{- if $isBucket }}
{{- $bucket := fromYaml (include "vitascope.nginxBucket" .) }}
{{- $server := $bucket.resolve | ternary (printf "zone bucket 256k;\n  include /tmp/resolver.conf;\n  server %s resolve;" $bucket.server) (printf "server %s;" $bucket.server) }}
{{- $config = $config
      | replace "server objects:7070;" $server
      | replace "Host objects:7070;" (printf "Host %s;" $bucket.host)
      | replace "max_size=50g" (printf "max_size=%s" (.Values.delivery.nginx.cacheSize | replace "i" "" | lower)) }}
{{- if eq $bucket.scheme "https" }}
{{- $config = replace "proxy_pass http://bucket;" (printf "proxy_pass https://bucket;\n    proxy_ssl_server_name on;\n    proxy_ssl_name %s;\n    proxy_ssl_verify on;\n    proxy_ssl_verify_depth 5;\n    proxy_ssl_trusted_certificate /tmp/authorities.crt;" $bucket.name) $config }}
{{- end }}
{{- end }}
{{ $config }}
{{- end }}

{{/* Script that starts nginx, with the name servers of the pod and the certificate authorities of the bucket. */}}
{{- define "vitascope.nginxScript" -}}
{{- if eq .Values.storage.kind "s3" }}
{{- $bucket := fromYaml (include "vitascope.nginxBucket" .) }}
{{- if $bucket.resolve }}
servers=$(awk '$1 == "nameserver" { print ($2 ~ /:/ ? "[" $2 "]" : $2) }' /etc/resolv.conf)
echo resolver $servers{{ if not (contains ":" .Values.listenHost) }} ipv6=off{{ end }}';' > /tmp/resolver.conf
{{- end }}
{{- if eq $bucket.scheme "https" }}
cat /etc/ssl/certs/ca-certificates.crt{{ if .Values.authorities.configMap }} /etc/vitascope/authorities/ca.crt{{ end }} > /tmp/authorities.crt
{{- end }}
{{- end }}
exec nginx -e stderr -c /etc/vitascope/nginx/nginx.conf -g 'daemon off;'
{{- end }}

{{/* "yes" if nginx runs in the pods of the component. */}}
{{- define "vitascope.hasNginx" -}}
{{- if and (eq .name "delivery") .root.Values.delivery.direct .root.Values.delivery.nginx.enabled }}yes{{ end }}
{{- end }}

{{/* Container of nginx in the pods of delivery. */}}
{{- define "vitascope.nginxContainer" -}}
{{- $values := .root.Values.delivery.nginx }}
- name: nginx
  image: {{ $values.image }}
  imagePullPolicy: {{ .root.Values.image.pullPolicy }}
  command: [/bin/sh, -ec]
  args:
    - |
      {{- include "vitascope.nginxScript" .root | trim | nindent 6 }}
  ports:
    - { name: public, containerPort: 8082 }
  securityContext:
    {{- include "vitascope.containerSecurity" . | nindent 4 }}
  resources:
    {{- toYaml $values.resources | nindent 4 }}
  startupProbe:
    httpGet: { path: /healthz, port: public }
    periodSeconds: 2
    timeoutSeconds: 3
    failureThreshold: 150
  livenessProbe:
    tcpSocket: { port: public }
    periodSeconds: 10
    timeoutSeconds: 5
    failureThreshold: 6
  readinessProbe:
    httpGet: { path: /healthz, port: public }
    periodSeconds: 5
    timeoutSeconds: 3
  lifecycle:
    # Services remove this pod before it stops accepting connections.
    preStop:
      sleep: { seconds: {{ .root.Values.shutdown.preStopSeconds }} }
  volumeMounts:
    - { name: nginx-tmp, mountPath: /tmp }
    - { name: nginx, mountPath: /etc/vitascope/nginx, readOnly: true }
    {{- if eq .root.Values.storage.kind "s3" }}
    - { name: nginx-cache, mountPath: /var/cache/nginx }
    {{- if .root.Values.authorities.configMap }}
    - { name: authorities, mountPath: /etc/vitascope/authorities, readOnly: true }
    {{- end }}
    {{- else }}
    - { name: objects, mountPath: /var/lib/vitascope/objects, readOnly: true }
    {{- end }}
{{- end }}

{{/* Volumes of nginx. */}}
{{- define "vitascope.nginxVolumes" -}}
- name: nginx
  configMap:
    name: {{ include "vitascope.name" . }}-nginx
- name: nginx-tmp
  emptyDir: { sizeLimit: 64Mi }
{{- if eq .root.Values.storage.kind "s3" }}
- name: nginx-cache
  emptyDir: { sizeLimit: {{ .root.Values.delivery.nginx.cacheLimit }} }
{{- end }}
{{- end }}
