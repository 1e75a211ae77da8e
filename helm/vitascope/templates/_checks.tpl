{{/*
Combinations that cannot work, each told in a sentence that says what to set; a line for each. The form of single values is the schema's matter.
*/}}
{{- define "vitascope.problems" -}}
{{- $v := .Values }}
{{- $enabled := (fromYaml (include "vitascope.enabled" .)).names }}
{{- $house := fromYaml (include "vitascope.house" .) }}
{{- $reached := list }}
{{- $calls := list }}
{{- range $enabled }}
{{- $row := index $house . }}
{{- $reached = concat $reached $row.reaches }}
{{- range $row.calls }}{{ $calls = append $calls . }}{{ end }}
{{- end }}
{{- if not $enabled }}
- no component is enabled: set `gateway.enabled` (or that of another one) to true
{{- end }}
{{- if and (or (has "gateway" $enabled) (has "web" $enabled) (has "catalogue" $enabled)) (not $v.publicUrl) }}
- `publicUrl` is missing: set it to the address under which viewers reach the gateway, such as https://video.example.org
{{- end }}
{{- if and $v.secrets.existingSecret $v.secrets.generate }}
- keys are either given or made: set `secrets.existingSecret`, or `secrets.generate`, not both
{{- else if and $enabled (not $v.secrets.existingSecret) (not $v.secrets.generate) }}
- the keys of the house are missing: set `secrets.existingSecret` to a secret with principal-key, master-key, token-keys and system-key (README.md says how to make it)
{{- end }}
{{- range $name := $enabled }}
{{- $values := index $v $name }}
{{- $row := index $house $name }}
{{- range $call := $row.calls }}
{{- $callee := splitList "/" $call }}
{{- $setting := eq (last $callee) "upload" | ternary "uploadAddress" "address" }}
{{- $other := index $v (first $callee) }}
{{- if and (not $other.enabled) (not (get $other $setting)) }}
- {{ $name }} calls {{ first $callee }}, which is not a part of this release: set `{{ first $callee }}.{{ $setting }}` to its HOST:PORT, or `{{ first $callee }}.enabled` to true
{{- end }}
{{- if and $v.networkPolicy.enabled (not $other.enabled) (not $v.networkPolicy.otherNamespaces) }}
- {{ $name }} calls {{ first $callee }}, which is not a part of this release: set `networkPolicy.otherNamespaces` to the namespaces of such parts (this one, {{ $.Release.Namespace }}, may be among them), or `networkPolicy.enabled` to false
{{- end }}
{{- end }}
{{- if and (has "database" $row.reaches) (not $values.database.existingSecret) (not $v.database.existingSecret) (not $v.database.cloudNativePg.cluster) (not $v.demo.postgres.enabled) }}
- {{ $name }} has no database: set `database.existingSecret` to a secret with its URL under the key `{{ $name }}`, or `database.cloudNativePg.cluster`, or `{{ $name }}.database.existingSecret`
{{- end }}
{{- if and $values.database $v.networkPolicy.enabled (not $v.networkPolicy.peers.database) }}
{{- if $values.database.existingSecret }}
- policies close all ways that are not named: set `networkPolicy.peers.database` to where the database of {{ $name }} is, such as [{ipBlock: {cidr: 192.0.2.10/32}}], or `networkPolicy.enabled` to false
{{- end }}
{{- end }}
{{- if and (eq $v.tls.mode "secrets") (not (index $v.tls.secrets $name)) }}
- `tls.mode` is secrets, and {{ $name }} has none: set `tls.secrets.{{ $name }}` to a secret with tls.crt, tls.key and ca.crt
{{- end }}
{{- if and $values.autoscaling.enabled (lt (int $values.autoscaling.maxReplicas) (int $values.autoscaling.minReplicas)) }}
- `{{ $name }}.autoscaling.maxReplicas` is below `minReplicas`: set it to {{ $values.autoscaling.minReplicas }} or more
{{- end }}
{{- if and (has "objects" $row.folders) (eq $v.storage.kind "files") (eq $v.storage.files.accessMode "ReadWriteOnce") (or $values.autoscaling.enabled (gt (int $values.replicas) 1) (and $values.scaledJob ($values.scaledJob | default dict).enabled)) }}
- {{ $name }} has several pods, and the volume of objects is for one node: set `storage.kind` to s3, or `storage.files.accessMode` to ReadWriteMany, or `{{ $name }}.replicas` to 1
{{- end }}
{{- end }}
{{- if and $v.encoding.enabled (not $v.worker.enabled) $v.networkPolicy.enabled (not $v.networkPolicy.otherNamespaces) }}
- encoding hands out work that no worker of this release takes: set `worker.enabled` to true, or `networkPolicy.otherNamespaces` to the namespaces of workers, or `networkPolicy.enabled` to false
{{- end }}
{{- $elsewhere := list }}
{{- range $call := uniq $calls }}
{{- $callee := first (splitList "/" $call) }}
{{- if not (index $v $callee).enabled }}{{ $elsewhere = append $elsewhere $callee }}{{ end }}
{{- end }}
{{- if and (eq $v.tls.mode "certManager") (not $v.tls.certManager.issuer.name) (or $elsewhere $v.networkPolicy.otherNamespaces) }}
- this release would have a CA of its own, which parts of the house in other releases do not know: set `tls.certManager.issuer` to one that all of them use, such as {name: house, kind: ClusterIssuer}
{{- end }}
{{- if and $v.database.existingSecret $v.database.cloudNativePg.cluster }}
- there are two databases: set `database.existingSecret` or `database.cloudNativePg.cluster`, not both
{{- end }}
{{- if and $v.demo.postgres.enabled (or $v.database.existingSecret $v.database.cloudNativePg.cluster) }}
- there are two databases: set `demo.postgres.enabled` to false where `database` names one
{{- end }}
{{- if and $v.database.cloudNativePg.create (not $v.database.cloudNativePg.cluster) }}
- the cluster of CloudNativePG has no name: set `database.cloudNativePg.cluster`
{{- end }}
{{- if and (has "storage" $reached) (eq $v.storage.kind "s3") }}
{{- range $key := list "endpoint" "bucket" "existingSecret" }}
{{- if not (get $v.storage.s3 $key) }}
- objects are kept in S3, and `storage.s3.{{ $key }}` is missing: set it, or `storage.kind` to files
{{- end }}
{{- end }}
{{- end }}
{{- if and $v.storage.s3.redirect (ne $v.storage.kind "s3") }}
- viewers can be led to a bucket alone: set `storage.s3.redirect` to false, or `storage.kind` to s3
{{- end }}
{{- if and $v.worker.enabled $v.worker.scaledJob.enabled }}
{{- if not $v.worker.scaledJob.prometheus }}
- KEDA asks Prometheus how much work there is: set `worker.scaledJob.prometheus` to its address, such as http://prometheus.monitoring:9090
{{- end }}
{{- if and $v.encoding.enabled $v.networkPolicy.enabled (not $v.networkPolicy.metricsFrom) }}
- KEDA asks Prometheus how much work there is, and policies let nobody read that: set `networkPolicy.metricsFrom` to where Prometheus is, such as [{namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: monitoring}}}]
{{- end }}
{{- if and (not $v.encoding.enabled) (not $v.worker.scaledJob.namespace) }}
- KEDA asks Prometheus how much work there is, and encoding, which tells it, is not a part of this release: set `worker.scaledJob.namespace` to the namespace that it is in
{{- end }}
{{- if and $v.encoding.enabled $v.worker.scaledJob.namespace (ne $v.worker.scaledJob.namespace .Release.Namespace) }}
- encoding is a part of this release: set `worker.scaledJob.namespace` to "", or `encoding.enabled` to false
{{- end }}
{{- if $v.worker.autoscaling.enabled }}
- workers are scaled twice: set `worker.autoscaling.enabled` or `worker.scaledJob.enabled` to false
{{- end }}
{{- if le (int $v.worker.scaledJob.maxReplicas) (int $v.worker.scaledJob.minReplicas) }}
- `worker.scaledJob.maxReplicas` is to be above `minReplicas`: set it to more than {{ $v.worker.scaledJob.minReplicas }}
{{- end }}
{{- end }}
{{- if and $v.httpRoute.enabled (not $v.httpRoute.parentRefs) }}
- the HTTPRoute hangs on no gateway: set `httpRoute.parentRefs`, such as [{name: public, namespace: gateways}]
{{- end }}
{{- if and (or $v.ingress.enabled $v.httpRoute.enabled) (not (or $v.gateway.enabled $v.web.enabled)) }}
- nothing is to be reached from outside here: set `gateway.enabled` to true, or `ingress.enabled` and `httpRoute.enabled` to false
{{- end }}
{{- if and (or $v.ingress.enabled $v.httpRoute.enabled) (not $v.trustedProxies) }}
- callers come by a proxy, and would all have its address, for limits and for rules of videos: set `trustedProxies` to the networks of its pods, such as [10.244.0.0/16]
{{- end }}
{{- range $name := list "encoding" "worker" }}
{{- $values := index $v $name }}
{{- $size := include "vitascope.bytes" $values.scratch.size | float64 }}
{{- $limit := include "vitascope.bytes" (index $values.resources.limits "ephemeral-storage") | float64 }}
{{- if and $values.enabled (not $values.scratch.storageClass) (lt $limit $size) }}
- pods of {{ $name }} would be evicted before their scratch is full: set `{{ $name }}.resources.limits.ephemeral-storage` to more than `{{ $name }}.scratch.size`, {{ $values.scratch.size }}, or `{{ $name }}.scratch.storageClass` to that of a volume
{{- end }}
{{- end }}
{{- if $v.encoding.enabled }}
{{- $sources := $v.encoding.sources }}
{{- $largest := include "vitascope.bytes" $sources.maxBytes | float64 }}
{{- $fetched := mulf $largest $sources.parallel }}
{{- if lt (include "vitascope.bytes" $v.encoding.scratch.size | float64) $fetched }}
- encoding has no room for {{ $sources.parallel }} sources of `encoding.sources.maxBytes` at once: set `encoding.scratch.size` to {{ divf $fetched 1073741824 | ceil }}Gi or more, or `encoding.sources.parallel` or `encoding.sources.maxBytes` to less
{{- end }}
{{- if and (or $v.worker.enabled (include "vitascope.makesJobs" .)) (lt (include "vitascope.scratchBytes" . | float64) $largest) }}
- workers have no room for a source of `encoding.sources.maxBytes`: set `worker.scratch.size` to {{ divf $largest 0.95 1073741824 | ceil }}Gi or more (docs/operators.md, Scratch, has what long videos take), or `encoding.sources.maxBytes` to less
{{- end }}
{{- end }}
{{- if and (eq $v.encoding.executor.kind "kubernetes") $v.encoding.enabled (ne $v.storage.kind "s3") }}
- Jobs of the Kubernetes executor run on any node: set `storage.kind` to s3, or `encoding.executor.kind` to worker
{{- end }}
{{- if include "vitascope.makesJobs" . }}
{{- $jobs := $v.encoding.executor.kubernetes }}
{{- if or (not $jobs.namespace) (eq $jobs.namespace .Release.Namespace) }}
- Jobs need a namespace of their own, beside {{ .Release.Namespace }}: set `encoding.executor.kubernetes.namespace`
{{- end }}
{{- range $key := list "keys" "storage" }}
{{- if not (get $jobs.secrets $key) }}
- pods of Jobs cannot read secrets of {{ $.Release.Namespace }}: set `encoding.executor.kubernetes.secrets.{{ $key }}` to one in the namespace of the Jobs
{{- end }}
{{- end }}
{{- if and (ne $v.tls.mode "none") (not $jobs.secrets.tls) (not (and (eq $v.tls.mode "certManager") $v.tls.certManager.issuer.name (eq $v.tls.certManager.issuer.kind "ClusterIssuer"))) }}
- pods of Jobs have no certificate: set `encoding.executor.kubernetes.secrets.tls` to one of `worker` in the namespace of the Jobs, or `tls.certManager.issuer` to a ClusterIssuer
{{- end }}
{{- end }}
{{- if $v.networkPolicy.enabled }}
{{- if and $v.monitoring.serviceMonitor.enabled (not $v.networkPolicy.metricsFrom) }}
- policies let nobody read metrics: set `networkPolicy.metricsFrom` to where Prometheus is, such as [{namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: monitoring}}}]
{{- end }}
{{- $peers := $v.networkPolicy.peers }}
{{- $example := "such as [{ipBlock: {cidr: 192.0.2.10/32}}], or `networkPolicy.enabled` to false" }}
{{- if and (has "database" $reached) (not $v.demo.postgres.enabled) (not $v.database.cloudNativePg.cluster) (not $peers.database) }}
- policies close all ways that are not named: set `networkPolicy.peers.database` to where PostgreSQL is, {{ $example }}
{{- end }}
{{- if and (has "storage" $reached) (eq $v.storage.kind "s3") (not $peers.storage) }}
- policies close all ways that are not named: set `networkPolicy.peers.storage` to where the object store is, {{ $example }}
{{- end }}
{{- if and (has "redis" $reached) $v.redis.existingSecret (not $peers.redis) }}
- policies close all ways that are not named: set `networkPolicy.peers.redis` to where Redis is, {{ $example }}
{{- end }}
{{- if and (has "mail" $reached) $v.mail.existingSecret (not $peers.mail) }}
- policies close all ways that are not named: set `networkPolicy.peers.mail` to where the mail server is, {{ $example }}
{{- end }}
{{- if and $v.encoding.enabled (eq $v.encoding.executor.kind "kubernetes") (not $peers.kubernetesApi) }}
- policies close all ways that are not named: set `networkPolicy.peers.kubernetesApi` to where the API server is, {{ $example }}
{{- end }}
{{- end }}
{{- end }}
