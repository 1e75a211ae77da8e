import { randomBytes } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { runCommand } from '../../tools/lib/run-command.ts'

/** Users of the API server as in its token file: user, id, groups. */
const USERS = {
  admin: 'admin,admin,system:masters',
  controllers: 'system:kube-controller-manager,controllers',
  scheduler: 'system:kube-scheduler,scheduler',
  node: 'system:node:node1,node,system:nodes',
  proxy: 'system:kube-proxy,proxy',
} as const

export type ClusterUser = keyof typeof USERS

/** Returns the path of a user's kubeconfig. */
export function toKubeconfigPath(folder: string, user: ClusterUser): string {
  return join(folder, `${user}.conf`)
}

/** Returns the bearer token of a user. */
export function readToken(folder: string, user: ClusterUser): string {
  return readFileSync(join(folder, 'keys', `${user}.token`), 'utf8')
}

/**
 * Creates a CA, certificates, tokens and kubeconfigs in the folder of a cluster, valid for one
 * month. Does nothing if they exist.
 */
export async function makeKeys(folder: string, { server, names }: { server: string; names: readonly string[] }): Promise<void> {
  const keys = join(folder, 'keys')
  const done = join(keys, 'done')
  if (existsSync(done)) return
  mkdirSync(keys, { recursive: true, mode: 0o700 })
  const openssl = async (...args: string[]) => {
    const { code, output } = await runCommand('openssl', args, {}, keys)
    if (code !== 0) throw new Error(`openssl ${args[0]}: ${output}`)
  }
  const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes']
  const issue = async (name: string, subject: string, alternative: string) => {
    await openssl('req', ...key, '-subj', subject, '-keyout', `${name}.key`, '-out', `${name}.csr`)
    writeFileSync(join(keys, `${name}.ext`), `subjectAltName=${alternative}`)
    const authority = ['-CA', 'ca.crt', '-CAkey', 'ca.key', '-CAcreateserial']
    await openssl('x509', '-req', '-in', `${name}.csr`, ...authority, '-days', '30', '-out', `${name}.crt`, '-extfile', `${name}.ext`)
  }
  await openssl('req', '-x509', ...key, '-days', '30', '-subj', '/CN=vitascope-cluster', '-keyout', 'ca.key', '-out', 'ca.crt')
  await issue('server', '/CN=kube-apiserver', names.join(','))
  await issue('kubelet-client', '/O=system:masters/CN=apiserver-kubelet', 'DNS:client')
  await issue('front-proxy', '/CN=front-proxy-client', 'DNS:client')
  await issue('kubelet', '/CN=kubelet', 'DNS:node1,IP:10.244.0.1,IP:127.0.0.1')
  await openssl('genrsa', '-out', 'accounts.key', '2048')

  const tokens = Object.entries(USERS).map(([user, identity]) => ({
    user: user as ClusterUser,
    identity,
    token: randomBytes(24).toString('hex'),
  }))
  writeFileSync(join(keys, 'tokens.csv'), tokens.map(({ token, identity }) => `${token},${identity}`).join('\n'))
  for (const { user, token } of tokens) {
    writeFileSync(join(keys, `${user}.token`), token)
    writeFileSync(toKubeconfigPath(folder, user), formatKubeconfig(server, join(keys, 'ca.crt'), token))
  }
  writeFileSync(done, '')
}

/** Returns a kubeconfig as JSON, which is valid YAML. */
export function formatKubeconfig(server: string, authority: string, token: string): string {
  return JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'cluster', cluster: { server, 'certificate-authority': authority } }],
    users: [{ name: 'user', user: { token } }],
    contexts: [{ name: 'context', context: { cluster: 'cluster', user: 'user' } }],
    'current-context': 'context',
  })
}
