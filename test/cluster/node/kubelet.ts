import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { ClusterLocation } from '../control-plane.ts'
import { toKubeconfigPath } from '../keys.ts'
import type { Program } from '../program.ts'
import { CGROUP } from './cgroups.ts'
import { SOCKET } from './containerd.ts'
import { NETWORK } from './network.ts'

/** Name of the registered node, also used in the keys of the cluster. */
export const NODE = 'node1'

/** Kubelet of the only node. */
export function kubelet({ folder, programs }: ClusterLocation): Program {
  const kubeletFolder = join(folder, 'kubelet')
  mkdirSync(kubeletFolder, { recursive: true })
  // External names are not resolved.
  writeFileSync(join(folder, 'resolv.conf'), '')
  const key = (name: string) => join(folder, 'keys', name)
  const settings = {
    apiVersion: 'kubelet.config.k8s.io/v1beta1',
    kind: 'KubeletConfiguration',
    address: NETWORK.node,
    authentication: { anonymous: { enabled: false }, webhook: { enabled: true }, x509: { clientCAFile: key('ca.crt') } },
    authorization: { mode: 'Webhook' },
    tlsCertFile: key('kubelet.crt'),
    tlsPrivateKeyFile: key('kubelet.key'),
    cgroupDriver: 'cgroupfs',
    cgroupRoot: `/${CGROUP}`,
    failSwapOn: false,
    clusterDNS: [NETWORK.names],
    clusterDomain: 'cluster.local',
    resolvConf: join(folder, 'resolv.conf'),
    containerRuntimeEndpoint: `unix://${SOCKET}`,
    evictionHard: { 'memory.available': '100Mi', 'nodefs.available': '1%', 'imagefs.available': '1%' },
    // Changed secrets reach pods within 20 s instead of one minute.
    syncFrequency: '20s',
    // Disables image garbage collection, because there is no registry.
    imageGCHighThresholdPercent: 100,
    imageGCLowThresholdPercent: 99,
    podLogsDir: join(folder, 'pods'),
  }
  writeFileSync(join(folder, 'kubelet.json'), JSON.stringify(settings))
  return {
    name: 'kubelet',
    command: join(programs, 'kubelet'),
    args: [
      `--config=${join(folder, 'kubelet.json')}`,
      `--kubeconfig=${toKubeconfigPath(folder, 'node')}`,
      `--hostname-override=${NODE}`,
      `--node-ip=${NETWORK.node}`,
      `--root-dir=${kubeletFolder}`,
    ],
  }
}

/**
 * Uses iptables. kube-proxy runs in the cluster's network namespace, so the rules of the machine
 * are not affected.
 */
export function kubeProxy({ folder, programs }: ClusterLocation): Program {
  return {
    name: 'kube-proxy',
    command: join(programs, 'kube-proxy'),
    args: [
      `--kubeconfig=${toKubeconfigPath(folder, 'proxy')}`,
      '--proxy-mode=iptables',
      '--cluster-cidr=10.244.0.0/16',
      `--hostname-override=${NODE}`,
      // The cluster must not change the limit of the machine.
      '--conntrack-max-per-core=0',
      '--bind-address=0.0.0.0',
    ],
  }
}

/** Metrics server for `kubectl top` and autoscalers. It runs next to the node, not in a pod. */
export function metricsServer({ folder }: ClusterLocation, program: string): Program {
  const adminKubeconfig = toKubeconfigPath(folder, 'admin')
  const ca = join(folder, 'keys/ca.crt')
  return {
    name: 'metrics-server',
    command: program,
    args: [
      `--kubeconfig=${adminKubeconfig}`,
      `--authentication-kubeconfig=${adminKubeconfig}`,
      `--authorization-kubeconfig=${adminKubeconfig}`,
      '--secure-port=4443',
      `--cert-dir=${join(folder, 'metrics')}`,
      '--kubelet-insecure-tls',
      '--kubelet-preferred-address-types=InternalIP',
      '--metric-resolution=10s',
      '--kubelet-request-timeout=5s',
      `--requestheader-client-ca-file=${ca}`,
      `--client-ca-file=${ca}`,
    ],
  }
}
