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
