import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { startNginx, type TestNginx } from '@vitascope/testing'

/** Starts nginx with `sendfile` on a folder of files. */
export function startFileServer(root: string): Promise<TestNginx> {
  return startNginx(
    ({ port }) => `sendfile on; tcp_nopush on; open_file_cache max=10000;
  server { listen 127.0.0.1:${port}; root ${root}; }`,
  )
}

/** Starts nginx with `deploy/nginx/files.conf` in front of a delivery. */
export function startAccelFront(delivery: string, objects: string): Promise<TestNginx> {
  const config = readFileSync(join(import.meta.dirname, '../../deploy/nginx/files.conf'), 'utf8')
  return startNginx(({ port }) =>
    config
      .replace('delivery:8082', delivery)
      .replace('listen 8080', `listen 127.0.0.1:${port}`)
      .replace('/var/lib/vitascope/objects/', `${objects}/`),
  )
}
