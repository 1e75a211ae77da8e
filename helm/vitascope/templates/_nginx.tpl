{{/*
nginx in the pods of delivery, which sends the files that delivery admits (`delivery.nginx`). The same
configuration for a host of its own is in deploy/nginx.
*/}}

{{/* Main configuration of nginx. */}}
{{- define "vitascope.nginxMain" -}}
worker_processes 2;
pid /tmp/nginx.pid;
error_log stderr warn;
events { worker_connections 8192; }
http {
  access_log off;
  keepalive_requests 100000;
  client_body_temp_path /tmp/client-body;
  proxy_temp_path /tmp/proxy;
  fastcgi_temp_path /tmp/fastcgi;
  uwsgi_temp_path /tmp/uwsgi;
  scgi_temp_path /tmp/scgi;
  include /etc/vitascope/nginx/server.conf;
}
{{- end }}

{{/* Server of nginx, and its cache for a bucket. */}}
{{- define "vitascope.nginxServer" -}}
{{- $s3 := eq .Values.storage.kind "s3" }}
{{- $https := hasPrefix "https://" .Values.storage.s3.endpoint }}
{{- $host := regexReplaceAll "^https?://" .Values.storage.s3.endpoint "" }}
{{- if .Values.storage.s3.virtualHost }}{{ $host = printf "%s.%s" .Values.storage.s3.bucket $host }}{{ end }}
{{- $address := contains ":" $host | ternary $host (printf "%s:%d" $host (ternary 443 80 $https)) }}
{{- range .Values.trustedProxies }}
set_real_ip_from {{ . }};
{{- end }}
real_ip_header X-Forwarded-For;
real_ip_recursive on;
{{- if $s3 }}
proxy_cache_path /var/cache/nginx/objects levels=1:2 keys_zone=objects:64m max_size={{ .Values.delivery.nginx.cacheSize | replace "i" "" | lower }} inactive=7d use_temp_path=off;
upstream bucket {
  server {{ $address }};
  keepalive 64;
}
{{- end }}
upstream delivery {
  server 127.0.0.1:8083;
  keepalive 64;
}
server {
  listen {{ eq .Values.listenHost "0.0.0.0" | ternary "8082" (printf "%s:8082" .Values.listenHost) }};
  server_tokens off;
  location = /healthz {
    return 200;
  }
  location /delivery/ {
    proxy_pass http://delivery;
    proxy_http_version 1.1;
    proxy_set_header Connection "";
    proxy_set_header Host $http_host;
    # Not the header of the client, which could contain any address.
    proxy_set_header X-Forwarded-For $remote_addr;
    proxy_pass_request_body off;
  }
  location /objects/ {
    internal;
    {{- if $s3 }}
    # Delivery appends the path of the bucket and a signature of 5 minutes, which includes the host.
    rewrite ^/objects(/.*)$ $1 break;
    proxy_pass {{ ternary "https" "http" $https }}://bucket;
    {{- if $https }}
    proxy_ssl_server_name on;
    proxy_ssl_name {{ first (splitList ":" $host) }};
    proxy_ssl_verify on;
    proxy_ssl_trusted_certificate {{ not (empty .Values.authorities.configMap) | ternary "/etc/vitascope/authorities/ca.crt" "/etc/ssl/certs/ca-certificates.crt" }};
    {{- end }}
    proxy_http_version 1.1;
    proxy_set_header Connection "";
    proxy_set_header Host {{ $host }};
    proxy_method GET;
    # Pieces of 1 MiB, so that a range of a large file needs only its pieces.
    slice 1m;
    proxy_set_header Range $slice_range;
    proxy_cache objects;
    # Without the signature. Names are unique and their bytes never change.
    proxy_cache_key $uri$slice_range;
    proxy_cache_valid 200 206 7d;
    proxy_ignore_headers Cache-Control Expires Set-Cookie;
    proxy_cache_lock on;
    # Delivery sets these for the client.
    {{- range list "Cache-Control" "Content-Disposition" "Content-Security-Policy" "Access-Control-Allow-Origin" "x-amz-request-id" "x-amz-id-2" "x-amz-version-id" "x-amz-storage-class" "x-amz-server-side-encryption" "x-amz-checksum-sha256" "x-amz-checksum-crc32" "x-amz-checksum-type" "x-amz-meta-sha256" }}
    proxy_hide_header {{ . }};
    {{- end }}
    add_header X-Cache $upstream_cache_status;
    {{- else }}
    alias /var/lib/vitascope/objects/;
    sendfile on;
    tcp_nopush on;
    open_file_cache max=10000 inactive=60s;
    {{- end }}
    add_header Access-Control-Allow-Origin *;
    add_header Access-Control-Expose-Headers "Content-Length, Content-Range, ETag";
    add_header X-Content-Type-Options nosniff;
  }
}
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
  command: [nginx, -c, /etc/vitascope/nginx/nginx.conf, -g, "daemon off;"]
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
  emptyDir: { sizeLimit: 1Gi }
{{- if eq .root.Values.storage.kind "s3" }}
- name: nginx-cache
  emptyDir: { sizeLimit: {{ .root.Values.delivery.nginx.cacheLimit }} }
{{- end }}
{{- end }}
