import { readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { sourceFiles } from './workspace-imports.ts'

/** What can open a socket, and the files that use it for something else than calling a foreign address. */
const allowed: Record<string, RegExp[]> = {
  // They serve.
  http: [
    /^apps\/(gateway|delivery)\/src\//,
    /^apps\/encoding\/src\/upload\/upload-listener[.]ts$/,
    /^libs\/telemetry\/src\//,
    // Between services, like gRPC itself.
    /^libs\/grpc\/src\/tls\//,
    /^apps\/standalone\/src\/metrics-page[.]ts$/,
  ],
  net: [
    // The gateway's own port; a port that is free, a text that is an address, the lock of the data folder.
    /^apps\/gateway\/src\/http\/listen[.]ts$/,
    /^libs\/embedded-postgres\/src\/free-port[.]ts$/,
    /^libs\/access\/src\/address[.]ts$/,
    /^apps\/standalone\/src\/(data-folder|platform)[.]ts$/,
  ],
  // The browser’s own, and the starter’s look at its children on loopback.
  'fetch()': [/^apps\/web\/src\//, /^apps\/standalone\/src\/(metrics-page|platform)[.]ts$/],
  // To the operator's own server, which no caller names.
  nodemailer: [/^apps\/catalogue\/src\/mail\/mail-transport[.]ts$/],
  https: [/^libs\/grpc\/src\/tls\//],
  http2: [],
  tls: [/^libs\/grpc\/src\/tls\//],
  dgram: [],
  dns: [],
  undici: [],
  axios: [],
}

const exempt = /^libs\/fetch\/|[.]test[.]ts$|-suite[.]ts$|^(apps|libs)\/[^/]+\/test\/|^libs\/testing\//

/** One outbound client, libs/fetch, checks every address: the files besides it that could go out without a check. */
export function outboundProblems(root: string): string[] {
  return ['apps', 'libs']
    .flatMap((kind) => sourceFiles(join(root, kind)))
    .map((file) => ({ file, path: relative(root, file) }))
    .filter(({ path }) => !exempt.test(path))
    .flatMap(({ file, path }) =>
      socketsOf(readFileSync(file, 'utf8'))
        .filter((name) => !allowed[name]?.some((pattern) => pattern.test(path)))
        .map((name) => `${path} uses ${name}: what goes out goes through libs/fetch (else name it, with the reason, in tools/outbound.ts)`),
    )
}

/** The names of `allowed` that a module uses; types alone do not count. */
export function socketsOf(source: string): string[] {
  const code = source.replaceAll(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, '')
  const imports = [
    ...code.matchAll(
      /^import\s(?!type\s)(?:[\w\s{},*$]*?\sfrom\s*)?['"](?:node:)?([\w-]+)(?:\/[^'"\n]*)?['"]|\b(?:import|require)\(\s*['"](?:node:)?([\w-]+)/gm,
    ),
  ].map(([, named, dynamic]) => named ?? dynamic ?? '')
  const used = /(?<![.\w])(?:globalThis\.)?fetch\(/.test(code.replaceAll(/\b(async )?(function )?fetch\([^)]*\)\s*(:[^{\n]*)?\{/g, ''))
    ? ['fetch()']
    : []
  return [...new Set([...imports.filter((name) => Object.hasOwn(allowed, name)), ...used])]
}
