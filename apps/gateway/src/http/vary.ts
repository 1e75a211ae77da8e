import type { ServerResponse } from 'node:http'

/** Says that the answer depends on this header of the request, too. */
export function vary(response: ServerResponse, name: string): void {
  const named = response.getHeader('Vary')
  if (named === undefined) response.setHeader('Vary', name)
  else if (!String(named).split(', ').includes(name)) response.setHeader('Vary', `${named}, ${name}`)
}
