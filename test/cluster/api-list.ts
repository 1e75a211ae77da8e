import { readFileSync } from 'node:fs'
import { Agent, get } from 'node:https'

/** Returns the current objects of a kind, by API path. */
export type ApiList = <T>(path: string) => Promise<T[]>

/** Returns a client with keep-alive connections. The files contain a bearer token and the CA of the server. */
export function apiList({ server, tokenFile, authorityFile }: { server: string; tokenFile: string; authorityFile: string }): ApiList {
  const agent = new Agent({ keepAlive: true, ca: readFileSync(authorityFile) })
  const headers = { authorization: `Bearer ${readFileSync(tokenFile, 'utf8')}` }
  return <T>(path: string) =>
    new Promise<T[]>((resolve, reject) => {
      const call = get(`${server}${path}?resourceVersion=0`, { agent, headers, timeout: 10_000 }, (response) => {
        const parts: Buffer[] = []
        response.on('data', (part: Buffer) => parts.push(part))
        response.on('error', reject)
        response.on('end', () => {
          const text = Buffer.concat(parts).toString()
          if (response.statusCode === 200) resolve((JSON.parse(text) as { items: T[] }).items)
          else reject(new Error(`${path} returned ${response.statusCode}: ${text}`))
        })
      })
      call.on('timeout', () => call.destroy(new Error(`${path} got no response`)))
      call.on('error', reject)
    })
}
