{{/*
Values whose validity depends on other values, or on a format that the schema cannot express. One
line each, in the format of vitascope.problems.
*/}}
{{- define "vitascope.problemsOfFormats" -}}
{{- $v := .Values }}
{{- $fullname := include "vitascope.fullname" . }}
{{- if not (regexMatch "^[a-z]" $fullname) }}
- names of Services must begin with a letter, and {{ $fullname }} does not: set `fullnameOverride`, or choose another release name
{{- end }}
{{- if and (hasPrefix "{" $v.limits) (hasKey (fromJson $v.limits) "Error") }}
- `limits` is not JSON ({{ (fromJson $v.limits).Error }}): set it to `default`, `off` or an object such as {"key": 200}
{{- end }}
{{- range $name := (fromYaml (include "vitascope.enabled" .)).names }}
{{- $values := index $v $name }}
{{- include "vitascope.problemsOfResources" (dict "name" (printf "%s.resources" $name) "resources" (fromYaml (include "vitascope.resources" (dict "root" $ "name" $name)))) }}
{{- $component := dict "root" $ "name" $name "row" (fromYaml (include "vitascope.row" (dict "root" $ "name" $name))) }}
{{- $generated := merge (fromYaml (include "vitascope.settingsOfAll" $component)) (fromYaml (include (printf "vitascope.settingsOf.%s" $name) $component)) }}
{{- range $setting, $_ := $values.settings }}
{{- if and (hasKey $generated $setting) (regexMatch "_(LISTEN|PORT|HOST|DIR|FILE|CALLERS|TEMPLATE|INSTANCE|OWNER)$" $setting) }}
- `{{ $name }}.settings.{{ $setting }}` conflicts with ports, volumes or policies of the chart: remove it
{{- end }}
{{- end }}
{{- end }}
{{- range $part := list "migrations" "test" }}
{{- include "vitascope.problemsOfResources" (dict "name" (printf "%s.resources" $part) "resources" (index $v $part).resources) }}
{{- end }}
{{- if eq $v.tls.mode "certManager" }}
{{- with $v.tls.certManager }}
{{- if and (not .issuer.name) (or (ne .issuer.kind "Issuer") (ne .issuer.group "cert-manager.io")) }}
- the name of the {{ .issuer.kind }} of {{ .issuer.group }} is missing: set `tls.certManager.issuer.name`
{{- end }}
{{- if lt (include "vitascope.seconds" .duration | float64) 3600.0 }}
- cert-manager issues no certificates for less than one hour: set `tls.certManager.duration` to 1h or more
{{- end }}
{{- if lt (include "vitascope.seconds" .renewBefore | float64) 300.0 }}
- cert-manager renews no certificate less than five minutes before its expiry: set `tls.certManager.renewBefore` to 5m or more
{{- end }}
{{- if le (include "vitascope.seconds" .duration | float64) (include "vitascope.seconds" .renewBefore | float64) }}
- a new certificate would be due for renewal at once: set `tls.certManager.renewBefore` to less than `tls.certManager.duration`, {{ .duration }}
{{- end }}
{{- end }}
{{- end }}
{{- $host := (urlParse $v.publicUrl).hostname }}
{{- $path := (urlParse $v.publicUrl).path | trimSuffix "/" }}
{{- range $route := list "ingress" "httpRoute" }}
{{- $named := index $v $route }}
{{- if and $named.enabled (not $named.host) $path }}
- `{{ $route }}` passes the path {{ $path }} unchanged, and the gateway does not serve it: set `publicUrl` to a URL without a path, or, if a proxy in front removes the path, `{{ $route }}.host` to the host that the proxy calls
{{- end }}
{{- if and $named.enabled (not $named.host) (or (not (regexMatch "^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$" $host)) (regexMatch "^[0-9.]+$" $host)) }}
- `{{ $route }}` requires a host name in lower case, not an IP address: set `{{ $route }}.host` to the public host name, or `publicUrl`, {{ $v.publicUrl }}, to a URL with such a name
{{- end }}
{{- $names := list }}
{{- range (fromYaml (include "vitascope.hosts" (dict "root" $ "route" $route))).hosts }}
{{- if and $named.enabled (has .host $names) }}
- `{{ $route }}` has the host {{ .host }} twice: remove it from `{{ $route }}.additionalHosts`
{{- end }}
{{- $names = append $names .host }}
{{- end }}
{{- end }}
{{- if include "vitascope.createsJobs" . }}
{{- range list "limits.cpu" "limits.hugepages-2Mi" "limits.hugepages-1Gi" }}
{{- if hasKey $v.encoding.executor.kubernetes.quota . }}
- pods of Jobs have no limit of `{{ trimPrefix "limits." . }}`, so a quota of it would prevent them from starting: remove `{{ . }}` from `encoding.executor.kubernetes.quota`, and set `requests.cpu` there
{{- end }}
{{- end }}
{{- end }}
{{- end }}

{{/*
Requests of a container must not exceed its limits: (dict "name" "auth.resources" "resources" …).
*/}}
{{- define "vitascope.problemsOfResources" -}}
{{- range $resource, $limit := .resources.limits }}
{{- $request := get $.resources.requests $resource }}
{{- if $request }}
{{- if gt (include "vitascope.milli" $request | float64) (include "vitascope.milli" $limit | float64) }}
- `{{ $.name }}.requests.{{ $resource }}`, {{ $request }}, is more than its limit: set `{{ $.name }}.limits.{{ $resource }}` to that or more
{{- end }}
{{- end }}
{{- end }}
{{- end }}

{{/* Converts a Kubernetes quantity to thousandths. */}}
{{- define "vitascope.milli" -}}
{{- $text := include "vitascope.toText" . }}
{{- if hasSuffix "m" $text }}{{ trimSuffix "m" $text }}{{ else }}{{ printf "%.0f" (mulf 1000 (include "vitascope.bytes" $text | float64)) }}{{ end }}
{{- end }}

{{/* Converts a duration such as 720h to seconds. */}}
{{- define "vitascope.seconds" -}}
{{- mulf (regexFind "^[0-9]+" . | float64) (get (dict "h" 3600 "m" 60 "s" 1) (regexFind "[hms]$" .)) }}
{{- end }}
