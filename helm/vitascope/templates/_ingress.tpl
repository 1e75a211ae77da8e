{{/*
Routing of paths, as {paths: [{path, to}]}: the pages to `web` if it is enabled, all other paths
to the gateway.
*/}}
{{- define "vitascope.paths" -}}
{{- $paths := list }}
{{- if .Values.web.enabled }}
{{- range list "/player" "/upload" }}{{ $paths = append $paths (dict "path" . "to" "web") }}{{ end }}
{{- end }}
{{- if .Values.gateway.enabled }}{{ $paths = append $paths (dict "path" "/" "to" "gateway") }}{{ end }}
{{- dict "paths" $paths | toYaml }}
{{- end }}
