const octet = '(25[0-5]|2[0-4][0-9]|1[0-9][0-9]|[1-9]?[0-9])'
const ip4 = `${octet}([.]${octet}){3}`
const ip6 = '[0-9A-Fa-f]*:[0-9A-Fa-f:]*(:[0-9.]+)?'
const mask4 = '(3[0-2]|[12]?[0-9])'
const mask6 = '(12[0-8]|1[01][0-9]|[1-9]?[0-9])'
const label = '[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?'
const hostName = `${label}([.]${label})*`
/** Number of bytes or processor cores with an optional Kubernetes suffix. */
const quantity = {
  type: ['string', 'number'],
  pattern: '^[0-9]+([.][0-9]+)?(m|k|M|G|T|P|E|Ki|Mi|Gi|Ti|Pi|Ei)?$',
  minimum: 0,
}

const hostAndPort = '([A-Za-z0-9][A-Za-z0-9.-]*|\\[[0-9A-Fa-f:.]+\\]):[0-9]{1,5}'

/** Returns the schema of a text that is empty or matches the pattern. */
const optional = (pattern: string) => ({ type: 'string', pattern: `^(${pattern})?$` })

/**
 * Common value formats of the chart, as `$defs` of its schema. With these, `helm template` rejects
 * a malformed value. Otherwise Kubernetes would reject it in the middle of an upgrade, or a process
 * at its start.
 */
export const chartFormats = {
  /** Memory and disk must be set for every container. */
  resources: {
    type: 'object',
    additionalProperties: false,
    required: ['requests', 'limits'],
    properties: {
      requests: { type: 'object', additionalProperties: quantity },
      limits: { type: 'object', additionalProperties: quantity, required: ['memory', 'ephemeral-storage'] },
    },
  },
  quantity,
  /** Name of a Kubernetes object. */
  name: optional(hostName),
  /** DNS label. */
  label: optional(label),
  /** Host name, which may begin with a wildcard. */
  host: optional(`([*][.])?${hostName}`),
  /** Key of a Secret. */
  key: { type: 'string', pattern: '^[A-Za-z0-9._-]+$' },
  /** Address of a gRPC service. */
  address: optional(`(dns:///)?${hostAndPort}`),
  addressOfHttp: optional(hostAndPort),
  /** Image without its tag. */
  repository: { type: 'string', pattern: '^([A-Za-z0-9][A-Za-z0-9.-]*(:[0-9]+)?/)?[a-z0-9][a-z0-9._-]*(/[a-z0-9][a-z0-9._-]*)*$' },
  /** Tag of an image. */
  tag: optional('[A-Za-z0-9_][A-Za-z0-9._-]{0,127}'),
  /** An IP address, or a network in CIDR notation. */
  network: { type: 'string', pattern: `^(${ip4}(/${mask4})?|${ip6}(/${mask6})?)$` },
  /** A network in CIDR notation. */
  cidr: { type: 'string', pattern: `^(${ip4}/${mask4}|${ip6}/${mask6})$` },
  /** Duration format of cert-manager. */
  time: { type: 'string', pattern: '^[1-9][0-9]*(h|m|s)$' },
  /** Duration format of Prometheus. */
  interval: { type: 'string', pattern: '^([0-9]+h)?([0-9]+m)?([0-9]+s)?([0-9]+ms)?$', minLength: 1 },
  /** `maxUnavailable` of a disruption budget. 0 would block every drain of a node. */
  budget: {
    anyOf: [
      { type: 'integer', minimum: 1 },
      { type: 'string', pattern: '^([1-9][0-9]?|100)%$' },
    ],
  },
  /** Peer of a NetworkPolicy. */
  peer: {
    type: 'object',
    minProperties: 1,
    additionalProperties: false,
    properties: {
      ipBlock: {
        type: 'object',
        additionalProperties: false,
        required: ['cidr'],
        properties: { cidr: { $ref: '#/$defs/cidr' }, except: { type: 'array', items: { $ref: '#/$defs/cidr' } } },
      },
      podSelector: { type: 'object' },
      namespaceSelector: { type: 'object' },
    },
  },
  port: { type: 'integer', minimum: 1, maximum: 65_535 },
  /** Name with an optional domain before a slash. */
  qualifiedName: optional(`(${hostName}/)?[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?`),
  /** Named part of a pod, such as a volume. Kubernetes validates its other fields. */
  named: { type: 'object', required: ['name'], properties: { name: { type: 'string', minLength: 1 } } },
  /** Variable of a container that is not a setting of Vitascope. */
  environmentVariable: {
    type: 'object',
    required: ['name'],
    additionalProperties: false,
    properties: {
      name: { type: 'string', pattern: '^[A-Za-z_][A-Za-z0-9_]*$', not: { pattern: '^VITASCOPE_' } },
      value: { type: 'string' },
      valueFrom: { type: 'object' },
    },
  },
  /** Settings of `pods`, as each component can override them. */
  pod: {
    type: 'object',
    additionalProperties: false,
    properties: {
      ...Object.fromEntries(
        ['annotations', 'labels', 'serviceAccountAnnotations', 'nodeSelector'].map((key) => [
          key,
          { type: 'object', additionalProperties: { type: ['string', 'null'] } },
        ]),
      ),
      ...Object.fromEntries(
        ['affinity', 'securityContext', 'containerSecurityContext', 'dnsConfig'].map((key) => [key, { type: 'object' }]),
      ),
      ...Object.fromEntries(['tolerations', 'hostAliases'].map((key) => [key, { type: 'array', items: { type: 'object' } }])),
      ...Object.fromEntries(
        ['volumes', 'volumeMounts', 'initContainers', 'containers'].map((key) => [
          key,
          { type: 'array', items: { $ref: '#/$defs/named' } },
        ]),
      ),
      ...Object.fromEntries(
        ['startupProbe', 'livenessProbe', 'readinessProbe'].map((key) => [
          key,
          {
            type: 'object',
            additionalProperties: false,
            properties: Object.fromEntries(
              ['periodSeconds', 'timeoutSeconds', 'failureThreshold'].map((name) => [name, { type: 'integer', minimum: 1 }]),
            ),
          },
        ]),
      ),
      priorityClassName: optional(hostName),
      runtimeClassName: optional(hostName),
      env: { type: 'array', items: { $ref: '#/$defs/environmentVariable' } },
      dnsPolicy: { enum: ['ClusterFirst', 'Default', 'None'] },
    },
  },
}

const formatOfKey: Record<string, keyof typeof chartFormats> = {
  existingSecret: 'name',
  existingClaim: 'name',
  storageClass: 'name',
  priorityClassName: 'name',
  key: 'key',
  accessKeyIdKey: 'key',
  secretAccessKeyKey: 'key',
  repository: 'repository',
  tag: 'tag',
}

/**
 * Returns a reference to the format of a setting whose name has the same meaning everywhere, such as
 * `existingSecret`. Returns undefined for all other settings. In values.yaml, they have a comment
 * `# @ {schema}` if their value does not determine their schema.
 */
export function commonFormat(setting: string): { $ref: string } | undefined {
  const isSecret = /[.]secrets[.]\w+$/.test(setting)
  const format = isSecret ? 'name' : formatOfKey[setting.slice(setting.lastIndexOf('.') + 1)]
  return format && { $ref: `#/$defs/${format}` }
}
