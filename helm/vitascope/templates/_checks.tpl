{{/*
Invalid combinations of values, one line each. Each line says which value to set. The schema
validates single values.
*/}}
{{- define "vitascope.problems" -}}
{{- $v := .Values }}
{{- $enabled := (fromYaml (include "vitascope.enabled" .)).names }}
{{- $components := fromYaml (include "vitascope.components" .) }}
{{- $reached := list }}
{{- $calls := list }}
{{- range $enabled }}
{{- $row := index $components . }}
{{- $reached = concat $reached $row.egress }}
{{- range $row.calls }}{{ $calls = append $calls . }}{{ end }}
{{- end }}
{{- if not $enabled }}
- no component is enabled: set `gateway.enabled` (or `enabled` of another component) to true
{{- end }}
{{- if and (or (has "gateway" $enabled) (has "web" $enabled) (has "catalogue" $enabled)) (not $v.publicUrl) }}
- `publicUrl` is missing: set it to the URL under which viewers reach the gateway, such as https://video.example.org
{{- end }}
{{- if and $v.secrets.existingSecret $v.secrets.generate }}
- keys are both configured and generated: set `secrets.existingSecret`, or `secrets.generate`, not both
{{- else if and $enabled (not $v.secrets.existingSecret) (not $v.secrets.generate) }}
- the keys of the platform are missing: set `secrets.existingSecret` to a secret with master-key, token-keys, system-key, upload-signing-key, idempotency-hash-key, and NAME.key and NAME.pub of each service (README.md describes how to create it)
{{- end }}
{{- range $name := $enabled }}
{{- $values := index $v $name }}
{{- $row := index $components $name }}
{{- range $call := $row.calls }}
{{- $callee := splitList "/" $call }}
{{- $setting := eq (last $callee) "upload" | ternary "uploadAddress" "address" }}
{{- $other := index $v (first $callee) }}
{{- if and (not $other.enabled) (not (get $other $setting)) }}
- {{ $name }} calls {{ first $callee }}, which is not part of this release: set `{{ first $callee }}.{{ $setting }}` to its HOST:PORT, or `{{ first $callee }}.enabled` to true
{{- end }}
{{- if and $v.networkPolicy.enabled (not $other.enabled) (not $v.networkPolicy.otherNamespaces) }}
- {{ $name }} calls {{ first $callee }}, which is not part of this release: set `networkPolicy.otherNamespaces` to the namespaces of such components ({{ $.Release.Namespace }} may be one of them), or `networkPolicy.enabled` to false
{{- end }}
{{- end }}
{{- if and (has "database" $row.egress) (not $values.database.existingSecret) (not $v.database.existingSecret) (not $v.database.cloudNativePg.cluster) (not $v.evaluation.postgres.enabled) }}
- {{ $name }} has no database: set `database.existingSecret` to a secret with its URL under the key `{{ $name }}`, or `database.cloudNativePg.cluster`, or `{{ $name }}.database.existingSecret`
{{- end }}
{{- if and $values.database $v.networkPolicy.enabled (not $v.networkPolicy.peers.database) }}
{{- if $values.database.existingSecret }}
- network policies deny all connections that are not listed: set `networkPolicy.peers.database` to the address of the database of {{ $name }}, such as [{ipBlock: {cidr: 192.0.2.10/32}}], or `networkPolicy.enabled` to false
{{- end }}
{{- end }}
{{- if and (eq $v.tls.mode "secrets") (not (index $v.tls.secrets $name)) }}
- `tls.mode` is secrets, but {{ $name }} has no secret: set `tls.secrets.{{ $name }}` to a secret with tls.crt, tls.key and ca.crt
{{- end }}
{{- if and $values.autoscaling.enabled (lt (int $values.autoscaling.maxReplicas) (int $values.autoscaling.minReplicas)) }}
- `{{ $name }}.autoscaling.maxReplicas` is below `minReplicas`: set it to {{ $values.autoscaling.minReplicas }} or more
{{- end }}
{{- if and (has "objects" $row.volumes) (eq $v.storage.kind "files") (eq $v.storage.files.accessMode "ReadWriteOnce") (or $values.autoscaling.enabled (gt (int $values.replicas) 1) (and $values.scaledJob ($values.scaledJob | default dict).enabled)) }}
- {{ $name }} has several pods, but the volume of objects can only be mounted on one node: set `storage.kind` to s3, or `storage.files.accessMode` to ReadWriteMany, or `{{ $name }}.replicas` to 1
{{- end }}
{{- end }}
{{- if and $v.encoding.enabled (not $v.worker.enabled) $v.networkPolicy.enabled (not $v.networkPolicy.otherNamespaces) }}
- encoding has tasks, but this release has no worker: set `worker.enabled` to true, or `networkPolicy.otherNamespaces` to the namespaces of workers, or `networkPolicy.enabled` to false
{{- end }}
{{- $elsewhere := list }}
{{- range $call := uniq $calls }}
{{- $callee := first (splitList "/" $call) }}
{{- if not (index $v $callee).enabled }}{{ $elsewhere = append $elsewhere $callee }}{{ end }}
{{- end }}
{{- if and (eq $v.tls.mode "certManager") (not $v.tls.certManager.issuer.name) (or $elsewhere $v.networkPolicy.otherNamespaces) }}
- this release would create its own CA, which components of other releases do not trust: set `tls.certManager.issuer` to an issuer that all releases use, such as {name: vitascope, kind: ClusterIssuer}
{{- end }}
{{- if and $v.database.existingSecret $v.database.cloudNativePg.cluster }}
- two databases are configured: set `database.existingSecret` or `database.cloudNativePg.cluster`, not both
{{- end }}
{{- if and $v.evaluation.postgres.enabled (or $v.database.existingSecret $v.database.cloudNativePg.cluster) }}
- two databases are configured: set `evaluation.postgres.enabled` to false if `database` is set
{{- end }}
{{- if and $v.database.cloudNativePg.create (not $v.database.cloudNativePg.cluster) }}
- the CloudNativePG cluster has no name: set `database.cloudNativePg.cluster`
{{- end }}
{{- with $v.database.cloudNativePg }}
{{- if and (not .create) (or .separateLogins (gt (int .pooler.instances) 0) .backup.destination) }}
- logins, a pooler and backups are only possible for a CloudNativePG cluster of this release: set `database.cloudNativePg.create` to true, or remove `separateLogins`, `pooler` and `backup`
{{- end }}
{{- if and .create (gt (int .pooler.instances) 0) (not .separateLogins) }}
- the pooler needs the URL of each service: set `database.cloudNativePg.separateLogins` to true
{{- end }}
{{- if and .backup.destination (not .backup.existingSecret) }}
- backups of the database have no keys of their bucket: set `database.cloudNativePg.backup.existingSecret`
{{- end }}
{{- end }}
{{- if and (has "storage" $reached) (eq $v.storage.kind "s3") }}
{{- range $key := list "endpoint" "bucket" }}
{{- if not (get $v.storage.s3 $key) }}
- objects are stored in S3, but `storage.s3.{{ $key }}` is missing: set it, or `storage.kind` to files
{{- end }}
{{- end }}
{{- $readers := list }}
{{- range $enabled }}{{ if has "storage" (index $components .).egress }}{{ $readers = append $readers . }}{{ end }}{{ end }}
{{- if or $v.backup.enabled $v.backup.restore }}{{ $readers = append $readers "backup" }}{{ end }}
{{- range $readers }}
{{- if eq $v.storage.s3.credentials "identity" }}
{{- if get $v.storage.s3.existingSecrets . }}
- {{ . }} has keys of the object store and the identity of its pod: set `storage.s3.existingSecrets.{{ . }}` to "", or `storage.s3.credentials` to secret
{{- end }}
{{- else if not (get $v.storage.s3.existingSecrets .) }}
- {{ . }} has no keys of the object store: set `storage.s3.existingSecrets.{{ . }}` to a secret with keys that have its policy (docs/operate/security.md)
{{- end }}
{{- end }}
{{- end }}
{{- if and $v.redis.sentinel.existingSecret (not $v.redis.sentinel.addresses) }}
- there is a password of Sentinels, but no Sentinel: set `redis.sentinel.addresses`, or `redis.sentinel.existingSecret` to ""
{{- end }}
{{- if and $v.redis.sentinel.addresses $v.redis.cluster.nodes }}
- Redis is both a group with Sentinels and a cluster: set `redis.sentinel.addresses` or `redis.cluster.nodes`, not both
{{- end }}
{{- if and $v.proxy.url $v.proxy.existingSecret }}
- two proxies are configured: set `proxy.url` or `proxy.existingSecret`, not both
{{- end }}
{{- if and $v.storage.s3.kmsKey (ne $v.storage.s3.encryption "aws:kms") }}
- a key of KMS is configured for objects that are not encrypted with KMS: set `storage.s3.encryption` to aws:kms, or `storage.s3.kmsKey` to ""
{{- end }}
{{- if and $v.delivery.nginx.enabled (not $v.delivery.direct) }}
- nginx serves viewers at the public port of delivery: set `delivery.direct` to true, or `delivery.nginx.enabled` to false
{{- end }}
{{- if and $v.delivery.nginx.enabled $v.storage.s3.redirect }}
- nginx sends the files itself: set `storage.s3.redirect` to false, or `delivery.nginx.enabled` to false
{{- end }}
{{- if and $v.delivery.enabled $v.delivery.nginx.enabled (eq $v.storage.kind "s3") }}
{{- $nginx := $v.delivery.nginx }}
{{- $cache := include "vitascope.bytes" $nginx.cacheLimit | float64 }}
{{- if le $cache (include "vitascope.bytes" $nginx.cacheSize | float64) }}
- pods of delivery would be evicted when the cache of nginx is full: set `delivery.nginx.cacheLimit` to more than `delivery.nginx.cacheSize`, {{ $nginx.cacheSize }}
{{- end }}
{{- if lt (include "vitascope.bytes" (index $nginx.resources.limits "ephemeral-storage") | float64) $cache }}
- pods of delivery would be evicted before the cache of nginx is full: set `delivery.nginx.resources.limits.ephemeral-storage` to more than `delivery.nginx.cacheLimit`, {{ $nginx.cacheLimit }}
{{- end }}
{{- end }}
{{- if and $v.storage.s3.redirect (ne $v.storage.kind "s3") }}
- redirects require a bucket: set `storage.s3.redirect` to false, or `storage.kind` to s3
{{- end }}
{{- if and $v.worker.enabled $v.worker.scaledJob.enabled }}
{{- if not $v.worker.scaledJob.prometheus }}
- KEDA reads the queue length from Prometheus: set `worker.scaledJob.prometheus` to its URL, such as http://prometheus.monitoring:9090
{{- end }}
{{- if and $v.encoding.enabled $v.networkPolicy.enabled (not $v.networkPolicy.metricsFrom) }}
- KEDA reads the queue length from Prometheus, but network policies deny Prometheus access to the metrics: set `networkPolicy.metricsFrom` to the peers of Prometheus, such as [{namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: monitoring}}}]
{{- end }}
{{- if and (not $v.encoding.enabled) (not $v.worker.scaledJob.namespace) }}
- KEDA reads the queue length of encoding, which is not part of this release: set `worker.scaledJob.namespace` to the namespace of encoding
{{- end }}
{{- if and $v.encoding.enabled $v.worker.scaledJob.namespace (ne $v.worker.scaledJob.namespace .Release.Namespace) }}
- encoding is part of this release: set `worker.scaledJob.namespace` to "", or `encoding.enabled` to false
{{- end }}
{{- if $v.worker.autoscaling.enabled }}
- workers have two autoscalers: set `worker.autoscaling.enabled` or `worker.scaledJob.enabled` to false
{{- end }}
{{- if le (int $v.worker.scaledJob.maxReplicas) (int $v.worker.scaledJob.minReplicas) }}
- `worker.scaledJob.maxReplicas` must be greater than `minReplicas`: set it to more than {{ $v.worker.scaledJob.minReplicas }}
{{- end }}
{{- end }}
{{- if and $v.httpRoute.enabled (not $v.httpRoute.parentRefs) }}
- the HTTPRoute has no parent gateway: set `httpRoute.parentRefs`, such as [{name: public, namespace: gateways}]
{{- end }}
{{- if and (or $v.ingress.enabled $v.httpRoute.enabled) (not (or $v.gateway.enabled $v.web.enabled)) }}
- this release has no component for requests from outside: set `gateway.enabled` to true, or `ingress.enabled` and `httpRoute.enabled` to false
{{- end }}
{{- if and (or $v.ingress.enabled $v.httpRoute.enabled) (not $v.trustedProxies) }}
- requests pass a proxy, so that limits and playback policies would see only its address: set `trustedProxies` to the networks of its pods, such as [10.244.0.0/16]
{{- end }}
{{- range $name := list "encoding" "worker" }}
{{- $values := index $v $name }}
{{- $size := include "vitascope.bytes" $values.scratch.size | float64 }}
{{- $limit := include "vitascope.bytes" (index $values.resources.limits "ephemeral-storage") | float64 }}
{{- if and $values.enabled (not $values.scratch.storageClass) (lt $limit $size) }}
- pods of {{ $name }} would be evicted before their scratch is full: set `{{ $name }}.resources.limits.ephemeral-storage` to more than `{{ $name }}.scratch.size`, {{ $values.scratch.size }}, or `{{ $name }}.scratch.storageClass` to that of a volume
{{- end }}
{{- if and $values.enabled $values.scratch.request (gt (include "vitascope.bytes" $values.scratch.request | float64) $size) }}
- a pod of {{ $name }} would reserve more disk than it may use: set `{{ $name }}.scratch.request` to at most `{{ $name }}.scratch.size`, {{ $values.scratch.size }}
{{- end }}
{{- end }}
{{- if $v.encoding.enabled }}
{{- $sources := $v.encoding.sources }}
{{- $largest := include "vitascope.bytes" $sources.maxBytes | float64 }}
{{- $fetched := mulf $largest $sources.parallel }}
{{- if lt (include "vitascope.bytes" $v.encoding.scratch.size | float64) $fetched }}
- the scratch volume of encoding is too small for {{ $sources.parallel }} concurrent sources of `encoding.sources.maxBytes`: set `encoding.scratch.size` to {{ divf $fetched 1073741824 | ceil }}Gi or more, or `encoding.sources.parallel` or `encoding.sources.maxBytes` to less
{{- end }}
{{- if and (or $v.worker.enabled (include "vitascope.createsJobs" .)) (lt (include "vitascope.scratchBytes" . | float64) $largest) }}
- the scratch volume of workers is too small for a source of `encoding.sources.maxBytes`: set `worker.scratch.size` to {{ divf $largest 0.95 1073741824 | ceil }}Gi or more (docs/operate/storage.md, Scratch, lists the sizes for long videos), or `encoding.sources.maxBytes` to less
{{- end }}
{{- end }}
{{- if and (eq $v.encoding.executor.kind "kubernetes") $v.encoding.enabled (ne $v.storage.kind "s3") }}
- Jobs of the Kubernetes executor run on any node and require S3: set `storage.kind` to s3, or `encoding.executor.kind` to worker
{{- end }}
{{- if include "vitascope.createsJobs" . }}
{{- $jobs := $v.encoding.executor.kubernetes }}
{{- if or (not $jobs.namespace) (eq $jobs.namespace .Release.Namespace) }}
- Jobs require a separate namespace other than {{ .Release.Namespace }}: set `encoding.executor.kubernetes.namespace`
{{- end }}
{{- $required := include "vitascope.hasStorageKeys" . | empty | ternary (list "keys") (list "keys" "storage") }}
{{- if include "vitascope.hasTraceHeaders" . }}{{ $required = append $required "tracing" }}{{ end }}
{{- range $key := $required }}
{{- if not (get $jobs.secrets $key) }}
- pods of Jobs cannot read secrets of {{ $.Release.Namespace }}: set `encoding.executor.kubernetes.secrets.{{ $key }}` to a secret in the namespace of the Jobs
{{- end }}
{{- end }}
{{- if and (ne $v.tls.mode "none") (not $jobs.secrets.tls) (not (and (eq $v.tls.mode "certManager") $v.tls.certManager.issuer.name (eq $v.tls.certManager.issuer.kind "ClusterIssuer"))) }}
- pods of Jobs have no certificate: set `encoding.executor.kubernetes.secrets.tls` to a secret with the certificate of `worker` in the namespace of the Jobs, or `tls.certManager.issuer` to a ClusterIssuer
{{- end }}
{{- end }}
{{- if $v.networkPolicy.enabled }}
{{- if and $v.monitoring.serviceMonitor.enabled (not $v.networkPolicy.metricsFrom) }}
- network policies deny access to metrics: set `networkPolicy.metricsFrom` to the peers of Prometheus, such as [{namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: monitoring}}}]
{{- end }}
{{- $peers := $v.networkPolicy.peers }}
{{- $example := "such as [{ipBlock: {cidr: 192.0.2.10/32}}], or `networkPolicy.enabled` to false" }}
{{- if and (has "database" $reached) (not $v.evaluation.postgres.enabled) (not $v.database.cloudNativePg.cluster) (not $peers.database) }}
- network policies deny all connections that are not listed: set `networkPolicy.peers.database` to the address of PostgreSQL, {{ $example }}
{{- end }}
{{- if and (has "storage" $reached) (eq $v.storage.kind "s3") (not $peers.storage) }}
- network policies deny all connections that are not listed: set `networkPolicy.peers.storage` to the address of the object store, {{ $example }}
{{- end }}
{{- if and (has "storage" $reached) (eq $v.storage.kind "s3") (eq $v.storage.s3.credentials "identity") (not $peers.identity) }}
- network policies deny all connections that are not listed: set `networkPolicy.peers.identity` to the addresses of the token service (AWS STS, or 169.254.170.23/32 for EKS Pod Identity), {{ $example }}
{{- end }}
{{- if and (has "public" $reached) (include "vitascope.hasProxy" .) (not $peers.proxy) }}
- network policies deny all connections that are not listed: set `networkPolicy.peers.proxy` to the address of the proxy for sources, {{ $example }}
{{- end }}
{{- if and (has "redis" $reached) (include "vitascope.hasRedis" .) (not $peers.redis) }}
- network policies deny all connections that are not listed: set `networkPolicy.peers.redis` to the address of Redis, {{ $example }}
{{- end }}
{{- if and (has "mail" $reached) $v.mail.existingSecret (not $peers.mail) }}
- network policies deny all connections that are not listed: set `networkPolicy.peers.mail` to the address of the mail server, {{ $example }}
{{- end }}
{{- if and (has "oidc" $reached) $v.oidc.issuer (not $peers.oidc) }}
- network policies deny all connections that are not listed: set `networkPolicy.peers.oidc` to the address of the identity provider, {{ $example }}
{{- end }}
{{- if and $v.tracing.endpoint (not $peers.tracing) }}
- network policies deny all connections that are not listed: set `networkPolicy.peers.tracing` to the address of the receiver of traces, {{ $example }}
{{- end }}
{{- if and $v.encoding.enabled (eq $v.encoding.executor.kind "kubernetes") (not $peers.kubernetesApi) }}
- network policies deny all connections that are not listed: set `networkPolicy.peers.kubernetesApi` to the address of the API server, {{ $example }}
{{- end }}
{{- end }}
{{- end }}
