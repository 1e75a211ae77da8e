import { Client, credentials, type Metadata, type ServiceError, type StatusObject, status } from '@grpc/grpc-js'
import type { CertificateFiles } from '@vitascope/testing/certificates'
import type { Rpc } from './rpcs.ts'

/** Result of a call: the name of the status code, and all received bytes. */
export interface RpcResponse {
  code: string
  bytes: Buffer
}

/** Credentials: a client certificate, only the CA, or plain text. */
export type ClientCredentials = CertificateFiles | { 'ca.crt': string } | undefined

/** A client without the checks of the platform's own client. */
export interface RpcCaller {
  call(rpc: Pick<Rpc, 'path' | 'isStream'>, request: Buffer, metadata: Metadata): Promise<RpcResponse>
  close(): void
}

const TIMEOUT_MS = 30_000

export function openRpcCaller(address: string, service: string, shown: ClientCredentials): RpcCaller {
  const client = new Client(address, createCredentials(shown), shown ? { 'grpc.ssl_target_name_override': service } : {})
  return {
    call: ({ path, isStream }, request, metadata) =>
      new Promise((resolve) => {
        const options = { deadline: Date.now() + TIMEOUT_MS }
        const parts: Buffer[] = []
        const done = ({ code }: Pick<StatusObject, 'code'>) => resolve({ code: status[code] ?? String(code), bytes: Buffer.concat(parts) })
        if (isStream) {
          const running = client.makeServerStreamRequest(path, asIs, asIs, request, metadata, options)
          running.on('data', (part: Buffer) => parts.push(part)).on('status', done)
          // The status reports this error, too.
          running.on('error', () => {})
          return
        }
        client.makeUnaryRequest(path, asIs, asIs, request, metadata, options, (error: ServiceError | null, response?: Buffer) => {
          if (response) parts.push(response)
          done({ code: error?.code ?? status.OK })
        })
      }),
    close: () => client.close(),
  }
}

function createCredentials(shown: ClientCredentials) {
  if (!shown) return credentials.createInsecure()
  const authority = Buffer.from(shown['ca.crt'])
  if (!('tls.key' in shown)) return credentials.createSsl(authority)
  return credentials.createSsl(authority, Buffer.from(shown['tls.key']), Buffer.from(shown['tls.crt']))
}

const asIs = (bytes: Buffer) => bytes
