{{/*
Routing of paths, as {paths: [{path, to, port}]}: the pages to `web` if it is enabled, media files
to delivery if `delivery.direct` is set, all other paths to the gateway. `port` is the name of the
port.
*/}}
{{- define "vitascope.paths" -}}
{{- $paths := list }}
{{- if .Values.web.enabled }}
{{- range list "/player" "/upload" }}{{ $paths = append $paths (dict "path" . "to" "web" "port" "http") }}{{ end }}
{{- end }}
{{- if and .Values.delivery.enabled .Values.delivery.direct }}
{{- $paths = append $paths (dict "path" "/delivery" "to" "delivery" "port" "public") }}
{{- end }}
{{- if .Values.gateway.enabled }}{{ $paths = append $paths (dict "path" "/" "to" "gateway" "port" "http") }}{{ end }}
{{- dict "paths" $paths | toYaml }}
{{- end }}

{{/*
Host names of the Ingress or of the HTTPRoute, as {hosts: [{host, tlsSecret}]}, the main one first:
(dict "root" $ "route" "ingress").
*/}}
{{- define "vitascope.hosts" -}}
{{- $route := index .root.Values .route }}
{{- $main := $route.host | default (urlParse .root.Values.publicUrl).hostname }}
{{- $hosts := list (dict "host" $main "tlsSecret" (get $route "tlsSecret")) }}
{{- range $route.additionalHosts }}
{{- $hosts = append $hosts (kindIs "map" . | ternary . (dict "host" .)) }}
{{- end }}
{{- dict "hosts" $hosts | toYaml }}
{{- end }}
