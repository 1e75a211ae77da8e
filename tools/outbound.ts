import { readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { sourceFiles } from './workspace-imports.ts'

/**
 * Modules that can open a socket, each with the files that may use them for other purposes than
 * outbound requests to foreign addresses.
 */
const allowed: Record<string, RegExp[]> = {
  // HTTP servers.
  http: [
    /^apps\/(gateway|delivery)\/src\//,
    /^apps\/encoding\/src\/upload\/upload-listener[.]ts$/,
    /^libs\/telemetry\/src\//,
    // Between services, like gRPC.
    /^libs\/grpc\/src\/tls\//,
    /^apps\/standalone\/src\/metrics-page[.]ts$/,
  ],
  net: [
    // The gateway's port, the search for a free port, the parser of addresses, and the lock of the
    // data folder.
    /^apps\/gateway\/src\/server\/http\/listen[.]ts$/,
    /^libs\/embedded-postgres\/src\/free-port[.]ts$/,
    /^libs\/security\/src\/address[.]ts$/,
    /^libs\/platform\/src\/data-folder[.]ts$/,
    /^apps\/standalone\/src\/platform[.]ts$/,
  ],
  // The browser's fetch, the supervisor's requests to its children on loopback, and the requests of
  // `helm test` to the gateway of its release.
  'fetch()': [
    /^apps\/(web|console)\/src\//,
    /^apps\/standalone\/src\/(metrics-page|platform)[.]ts$/,
    /^apps\/gateway\/src\/release-test\/client[.]ts$/,
  ],
  // Sends to the operator's own server, whose address no caller can choose.
  nodemailer: [/^apps\/catalogue\/src\/notification\/mail\/mail-transport[.]ts$/],
  // Calls the operator's own identity provider, whose address no caller can choose.
  'openid-client': [/^apps\/auth\/src\/oidc\/oidc-provider[.]ts$/],
  https: [/^libs\/grpc\/src\/tls\//],
  http2: [],
  tls: [/^libs\/grpc\/src\/tls\//],
  dgram: [],
  dns: [],
  undici: [],
  axios: [],
}

const exempt = /^libs\/fetch\/|[.]test[.]tsx?$|-suite[.]ts$|^(apps|libs)\/[^/]+\/test\/|^libs\/testing\//

/**
 * Returns a line for each file that opens sockets without address checks. libs/fetch is the only
 * outbound client, and it checks every address.
 */
export function outboundProblems(root: string): string[] {
  return ['apps', 'libs']
    .flatMap((kind) => sourceFiles(join(root, kind)))
    .map((file) => ({ file, path: relative(root, file) }))
    .filter(({ path }) => !exempt.test(path))
    .flatMap(({ file, path }) =>
      findSockets(readFileSync(file, 'utf8'))
        .filter((name) => !allowed[name]?.some((pattern) => pattern.test(path)))
        .map(
          (name) => `${path} uses ${name}: use libs/fetch for outgoing connections, or list the file with its reason in tools/outbound.ts`,
        ),
    )
}

/** Returns the names in `allowed` that a module uses. Type imports do not count. */
export function findSockets(source: string): string[] {
  const code = source.replaceAll(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, '')
  const imports = [
    ...code.matchAll(
      /^import\s(?!type\s)(?:[\w\s{},*$]*?\sfrom\s*)?['"](?:node:)?([\w-]+)(?:\/[^'"\n]*)?['"]|\b(?:import|require)\(\s*['"](?:node:)?([\w-]+)/gm,
    ),
  ].map(([, staticName, dynamicName]) => staticName ?? dynamicName ?? '')
  const used = /(?<![.\w])(?:globalThis\.)?fetch\(/.test(code.replaceAll(/\b(async )?(function )?fetch\([^)]*\)\s*(:[^{\n]*)?\{/g, ''))
    ? ['fetch()']
    : []
  return [...new Set([...imports.filter((name) => Object.hasOwn(allowed, name)), ...used])]
}
