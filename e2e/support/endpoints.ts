import { readFile } from 'node:fs/promises'

/** A line of docs/endpoints.csv. */
export interface Endpoint {
  method: string
  path: string
  section: string
}

export async function readEndpoints(): Promise<Endpoint[]> {
  const text = await readFile(new URL('../../docs/endpoints.csv', import.meta.url), 'utf8')
  return text
    .trim()
    .split('\n')
    .slice(1)
    .map((line) => {
      const [method = '', path = '', , section = ''] = line.split(',')
      return { method, path, section }
    })
}

export const formatEndpoint = ({ method, path }: Pick<Endpoint, 'method' | 'path'>) => `${method} ${path}`
