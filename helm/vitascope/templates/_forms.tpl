{{/*
Values that a schema cannot hold against each other, or against a form that it does not know; a line for each, as in vitascope.problems.
*/}}
{{- define "vitascope.problemsOfForm" -}}
{{- $v := .Values }}
{{- $fullname := include "vitascope.fullname" . }}
{{- if not (regexMatch "^[a-z]" $fullname) }}
- names of Services begin with a letter, and {{ $fullname }} does not: set `fullnameOverride`, or call the release by another name
{{- end }}
{{- if and (hasPrefix "{" $v.limits) (hasKey (fromJson $v.limits) "Error") }}
- `limits` is not JSON ({{ (fromJson $v.limits).Error }}): set it to `default`, `off` or an object such as {"key": 200}
{{- end }}
{{- range $name := (fromYaml (include "vitascope.enabled" .)).names }}
{{- $values := index $v $name }}
{{- include "vitascope.problemsOfResources" (dict "name" (printf "%s.resources" $name) "resources" $values.resources) }}
{{- $own := dict "root" $ "name" $name "row" (fromYaml (include "vitascope.row" (dict "root" $ "name" $name))) }}
{{- $made := merge (fromYaml (include "vitascope.settingsOfHouse" $own)) (fromYaml (include (printf "vitascope.settingsOf.%s" $name) $own)) }}
{{- range $setting, $_ := $values.settings }}
{{- if and (hasKey $made $setting) (regexMatch "_(LISTEN|PORT|HOST|DIR|FILE|CALLERS|TEMPLATE|INSTANCE|OWNER)$" $setting) }}
- `{{ $name }}.settings.{{ $setting }}` says what ports, volumes and policies of the chart say already: take it out
{{- end }}
{{- end }}
{{- if and $values.autoscaling.enabled (not (index $values.resources.requests "cpu")) }}
- {{ $name }} is scaled by its use of what it requests of a processor, which is nothing: set `{{ $name }}.resources.requests.cpu`, or `{{ $name }}.autoscaling.enabled` to false
{{- end }}
{{- end }}
{{- include "vitascope.problemsOfResources" (dict "name" "migrations.resources" "resources" $v.migrations.resources) }}
{{- if eq $v.tls.mode "certManager" }}
{{- with $v.tls.certManager }}
{{- if and (not .issuer.name) (or (ne .issuer.kind "Issuer") (ne .issuer.group "cert-manager.io")) }}
- which {{ .issuer.kind }} of {{ .issuer.group }} makes certificates is missing: set `tls.certManager.issuer.name`
{{- end }}
{{- if lt (include "vitascope.seconds" .duration | float64) 3600.0 }}
- cert-manager makes no certificate for less than an hour: set `tls.certManager.duration` to 1h or more
{{- end }}
{{- if lt (include "vitascope.seconds" .renewBefore | float64) 300.0 }}
- cert-manager replaces no certificate less than five minutes before its end: set `tls.certManager.renewBefore` to 5m or more
{{- end }}
{{- if le (include "vitascope.seconds" .duration | float64) (include "vitascope.seconds" .renewBefore | float64) }}
- a certificate would be due as soon as it is made: set `tls.certManager.renewBefore` to less than `tls.certManager.duration`, {{ .duration }}
{{- end }}
{{- end }}
{{- end }}
{{- $host := (urlParse $v.publicUrl).hostname }}
{{- $path := (urlParse $v.publicUrl).path | trimSuffix "/" }}
{{- range $door := list "ingress" "httpRoute" }}
{{- $named := index $v $door }}
{{- if and $named.enabled (not $named.host) $path }}
- viewers would come to {{ $path }}, which `{{ $door }}` leads on as it is, and the gateway has nothing there: set `publicUrl` to one without a path, or, where a proxy in front takes the path away, `{{ $door }}.host` to the host that it calls
{{- end }}
{{- if and $named.enabled (not $named.host) (or (not (regexMatch "^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$" $host)) (regexMatch "^[0-9.]+$" $host)) }}
- an address is no host for `{{ $door }}`, nor is one in capitals: set `{{ $door }}.host` to the name under which callers come, or `publicUrl`, {{ $v.publicUrl }}, to one with such a name
{{- end }}
{{- end }}
{{- if include "vitascope.makesJobs" . }}
{{- range list "limits.cpu" "limits.hugepages-2Mi" "limits.hugepages-1Gi" }}
{{- if hasKey $v.encoding.executor.kubernetes.quota . }}
- no pod of a Job has a limit of `{{ trimPrefix "limits." . }}`, so a quota of it lets none start: take `{{ . }}` out of `encoding.executor.kubernetes.quota`, and set `requests.cpu` there
{{- end }}
{{- end }}
{{- end }}
{{- end }}

{{/* What is kept for a container is to be no more than what it may take: (dict "name" "auth.resources" "resources" …). */}}
{{- define "vitascope.problemsOfResources" -}}
{{- range $what, $limit := .resources.limits }}
{{- $request := get $.resources.requests $what }}
{{- if $request }}
{{- if gt (include "vitascope.milli" $request | float64) (include "vitascope.milli" $limit | float64) }}
- `{{ $.name }}.requests.{{ $what }}`, {{ $request }}, is more than its limit: set `{{ $.name }}.limits.{{ $what }}` to that or more
{{- end }}
{{- end }}
{{- end }}
{{- end }}

{{/* A quantity of Kubernetes in thousandths. */}}
{{- define "vitascope.milli" -}}
{{- $text := include "vitascope.plain" . }}
{{- if hasSuffix "m" $text }}{{ trimSuffix "m" $text }}{{ else }}{{ printf "%.0f" (mulf 1000 (include "vitascope.bytes" $text | float64)) }}{{ end }}
{{- end }}

{{/* A time such as 720h in seconds. */}}
{{- define "vitascope.seconds" -}}
{{- mulf (regexFind "^[0-9]+" . | float64) (get (dict "h" 3600 "m" 60 "s" 1) (regexFind "[hms]$" .)) }}
{{- end }}
