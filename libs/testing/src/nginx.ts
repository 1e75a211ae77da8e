import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from '@vitascope/embedded-postgres'
import { findProgram } from './programs.ts'
import { waitFor } from './wait-for.ts'

/** Returns the path of nginx, or undefined if it is not installed. */
export function nginxPath(): string | undefined {
  return findProgram(['nginx'], ['/usr/sbin'])
}

export interface TestNginx {
  url: string
  pid: number | undefined
  stop(): Promise<void>
}

/**
 * Starts nginx with two workers and without an access log; requires `nginxPath()`. `configure`
 * returns the content of the `http` block for a port and a folder of temporary files.
 */
export async function startNginx(configure: (options: { port: number; folder: string }) => string): Promise<TestNginx> {
  const program = nginxPath()
  if (program === undefined) throw new Error('there is no nginx here')
  const folder = await mkdtemp(join(tmpdir(), 'vitascope-nginx-'))
  await chmod(folder, 0o755)
  const port = await freePort()
  const config = join(folder, 'nginx.conf')
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((kind) => `${kind}_temp_path ${folder}/${kind};`)
  await writeFile(
    config,
    `daemon off; worker_processes 2; pid ${folder}/pid; error_log stderr crit; ${process.getuid?.() === 0 ? 'user root;' : ''}
events { worker_connections 1024; }
http {
  access_log off; keepalive_requests 1000000;
  ${temporary.join(' ')}
  ${configure({ port, folder })}
}
`,
  )
  const child = spawn(program, ['-p', folder, '-c', config], { stdio: ['ignore', 'inherit', 'inherit'] })
  const exited = once(child, 'exit')
  const url = `http://127.0.0.1:${port}`
  const isListening = async () => {
    if (child.exitCode !== null) throw new Error(`nginx ended with ${child.exitCode}`)
    await fetch(url)
    return true
  }
  await waitFor(() => isListening().catch(() => false), { timeout: 20_000, describe: 'nginx to accept connections' })
  return {
    url,
    pid: child.pid,
    async stop() {
      child.kill('SIGQUIT')
      await exited
      await rm(folder, { recursive: true, force: true })
    },
  }
}
