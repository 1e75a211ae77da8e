import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from '@vitascope/embedded-postgres'
import { waitFor } from '@vitascope/testing'

export interface Nginx {
  url: string
  pid: number | undefined
  stop(): Promise<void>
}

/** Starts nginx with two workers and `sendfile` on a folder of files, without an access log. */
export async function startNginx(root: string): Promise<Nginx> {
  const folder = await mkdtemp(join(tmpdir(), 'vitascope-nginx-'))
  const port = await freePort()
  const config = join(folder, 'nginx.conf')
  await writeFile(
    config,
    `daemon off; worker_processes 2; pid ${folder}/pid; error_log stderr crit; ${process.getuid?.() === 0 ? 'user root;' : ''}
events { worker_connections 1024; }
http {
  access_log off; sendfile on; tcp_nopush on; keepalive_requests 1000000; open_file_cache max=10000;
  ${['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((kind) => `${kind}_temp_path ${folder}/${kind};`).join(' ')}
  server { listen 127.0.0.1:${port}; root ${root}; }
}
`,
  )
  const child: ChildProcess = spawn('nginx', ['-p', folder, '-c', config], { stdio: ['ignore', 'inherit', 'inherit'] })
  const url = `http://127.0.0.1:${port}`
  await waitFor(() =>
    fetch(url).then(
      () => true,
      () => false,
    ),
  )
  return {
    url,
    pid: child.pid,
    async stop() {
      const ended = once(child, 'exit')
      child.kill('SIGQUIT')
      await ended
      await rm(folder, { recursive: true, force: true })
    },
  }
}
