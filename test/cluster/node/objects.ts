import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { IMAGES } from '../images/images.ts'
import { NODE } from './kubelet.ts'
import { NETWORK } from './network.ts'

const VOLUMES = 12
const system = (name: string) => ({ name, namespace: 'kube-system' })

/** Objects of a cluster besides its servers: DNS, volumes and metrics. */
export function clusterObjects(folder: string): object[] {
  return [storageClass(), ...volumes(folder), ...names(), ...metrics()]
}

function storageClass() {
  return {
    apiVersion: 'storage.k8s.io/v1',
    kind: 'StorageClass',
    metadata: { name: 'local', annotations: { 'storageclass.kubernetes.io/is-default-class': 'true' } },
    provisioner: 'kubernetes.io/no-provisioner',
    volumeBindingMode: 'WaitForFirstConsumer',
  }
}

/** Volumes are created in advance: only such volumes apply the `fsGroup` of a pod. */
function volumes(folder: string): object[] {
  return Array.from({ length: VOLUMES }, (_, index) => {
    const path = join(folder, 'volumes', String(index + 1))
    mkdirSync(path, { recursive: true })
    const nodeTerm = { matchExpressions: [{ key: 'kubernetes.io/hostname', operator: 'In', values: [NODE] }] }
    return {
      apiVersion: 'v1',
      kind: 'PersistentVolume',
      metadata: { name: `local-${index + 1}` },
      spec: {
        capacity: { storage: '50Gi' },
        accessModes: ['ReadWriteOnce', 'ReadWriteMany'],
        storageClassName: 'local',
        local: { path },
        nodeAffinity: { required: { nodeSelectorTerms: [nodeTerm] } },
      },
    }
  })
}

function names(): object[] {
  const labels = { 'k8s-app': 'kube-dns' }
  const corefile = `.:53 {
  errors
  health :8080
  ready :8181
  kubernetes cluster.local in-addr.arpa {
    ttl 5
  }
  loadbalance
}
`
  const container = {
    name: 'coredns',
    image: IMAGES.names,
    imagePullPolicy: 'Never',
    args: ['-conf', '/etc/coredns/Corefile'],
    readinessProbe: { httpGet: { path: '/ready', port: 8181 }, periodSeconds: 1 },
    volumeMounts: [{ name: 'settings', mountPath: '/etc/coredns' }],
    resources: { requests: { cpu: '20m', memory: '32Mi' } },
    securityContext: { allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, capabilities: { drop: ['ALL'] } },
  }
  const spec = {
    serviceAccountName: 'coredns',
    dnsPolicy: 'Default',
    securityContext: {
      runAsNonRoot: true,
      runAsUser: 65532,
      seccompProfile: { type: 'RuntimeDefault' },
      // Allows port 53 without privileges.
      sysctls: [{ name: 'net.ipv4.ip_unprivileged_port_start', value: '0' }],
    },
    containers: [container],
    volumes: [{ name: 'settings', configMap: { name: 'coredns' } }],
  }
  const authorization = 'rbac.authorization.k8s.io'
  const watched = [
    { apiGroups: [''], resources: ['endpoints', 'services', 'pods', 'namespaces'], verbs: ['list', 'watch'] },
    { apiGroups: ['discovery.k8s.io'], resources: ['endpointslices'], verbs: ['list', 'watch'] },
  ]
  const ports = ['UDP', 'TCP'].map((protocol) => ({ name: protocol.toLowerCase(), port: 53, protocol }))
  return [
    { apiVersion: 'v1', kind: 'ServiceAccount', metadata: system('coredns') },
    { apiVersion: `${authorization}/v1`, kind: 'ClusterRole', metadata: { name: 'system:coredns' }, rules: watched },
    {
      apiVersion: `${authorization}/v1`,
      kind: 'ClusterRoleBinding',
      metadata: { name: 'system:coredns' },
      roleRef: { apiGroup: authorization, kind: 'ClusterRole', name: 'system:coredns' },
      subjects: [{ kind: 'ServiceAccount', ...system('coredns') }],
    },
    { apiVersion: 'v1', kind: 'ConfigMap', metadata: system('coredns'), data: { Corefile: corefile } },
    {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { ...system('coredns'), labels },
      spec: { selector: { matchLabels: labels }, template: { metadata: { labels }, spec } },
    },
    { apiVersion: 'v1', kind: 'Service', metadata: system('kube-dns'), spec: { clusterIP: NETWORK.names, selector: labels, ports } },
  ]
}

/** The server runs next to the node and has a fixed address. */
function metrics(): object[] {
  const name = 'metrics-server'
  return [
    { apiVersion: 'v1', kind: 'Service', metadata: system(name), spec: { ports: [{ name: 'https', port: 443, targetPort: 4443 }] } },
    {
      apiVersion: 'discovery.k8s.io/v1',
      kind: 'EndpointSlice',
      metadata: { ...system(name), labels: { 'kubernetes.io/service-name': name } },
      addressType: 'IPv4',
      ports: [{ name: 'https', port: 4443, protocol: 'TCP' }],
      endpoints: [{ addresses: [NETWORK.node], conditions: { ready: true } }],
    },
    {
      apiVersion: 'apiregistration.k8s.io/v1',
      kind: 'APIService',
      metadata: { name: 'v1beta1.metrics.k8s.io' },
      spec: {
        service: system(name),
        group: 'metrics.k8s.io',
        version: 'v1beta1',
        insecureSkipTLSVerify: true,
        groupPriorityMinimum: 100,
        versionPriority: 100,
      },
    },
  ]
}
