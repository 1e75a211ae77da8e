import { Client, credentials, type Metadata, type ServiceError, type StatusObject, status } from '@grpc/grpc-js'
import type { CertificateFiles } from '@vitascope/testing/certificates'
import type { Rpc } from './rpcs.ts'

/** Result of a call: the name of the status code, and all received bytes. */
export interface RpcResponse {
  code: string
  bytes: Buffer
}

/** Credentials: a client certificate, only the certificate of the CA, or `undefined` for a connection without TLS. */
export type ClientCredentials = CertificateFiles | { 'ca.crt': string } | undefined

/** A client without the checks of the platform's own client. */
export interface RpcCaller {
  call(rpc: Pick<Rpc, 'path' | 'isStream'>, request: Buffer, metadata: Metadata): Promise<RpcResponse>
  close(): void
}

const TIMEOUT_MS = 30_000

export function openRpcCaller(address: string, service: string, files: ClientCredentials): RpcCaller {
  const client = new Client(address, createCredentials(files), files ? { 'grpc.ssl_target_name_override': service } : {})
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

function createCredentials(files: ClientCredentials) {
  if (!files) return credentials.createInsecure()
  const authority = Buffer.from(files['ca.crt'])
  if (!('tls.key' in files)) return credentials.createSsl(authority)
  return credentials.createSsl(authority, Buffer.from(files['tls.key']), Buffer.from(files['tls.crt']))
}

const asIs = (bytes: Buffer) => bytes
