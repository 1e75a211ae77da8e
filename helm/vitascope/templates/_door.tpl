{{/* Which path leads to which door, as {paths: [{path, to}]}: the pages to `web` where there is one, all else to the gateway. */}}
{{- define "vitascope.paths" -}}
{{- $paths := list }}
{{- if .Values.web.enabled }}
{{- range list "/player" "/upload" }}{{ $paths = append $paths (dict "path" . "to" "web") }}{{ end }}
{{- end }}
{{- if .Values.gateway.enabled }}{{ $paths = append $paths (dict "path" "/" "to" "gateway") }}{{ end }}
{{- dict "paths" $paths | toYaml }}
{{- end }}
