import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
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

/** A free port, and a folder of temporary files. */
export interface NginxPlace {
  port: number
  folder: string
}

/**
 * Starts nginx with two workers and without an access log; requires `nginxPath()`. `configure`
 * returns the content of the `http` block.
 */
export function startNginx(configure: (place: NginxPlace) => string): Promise<TestNginx> {
  return startNginxWithFiles(({ port, folder }) => {
    const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((kind) => `${kind}_temp_path ${folder}/${kind};`)
    return {
      'nginx.conf': `daemon off; worker_processes 2; pid ${folder}/pid; error_log stderr crit;
events { worker_connections 1024; }
http {
  access_log off; keepalive_requests 1000000;
  ${temporary.join(' ')}
  ${configure({ port, folder })}
}
`,
    }
  })
}

/**
 * Starts nginx with complete configuration files by their paths in the folder. The main one is
 * `nginx.conf`. nginx must listen on the port.
 */
export async function startNginxWithFiles(configure: (place: NginxPlace) => Record<string, string>): Promise<TestNginx> {
  const program = nginxPath()
  if (program === undefined) throw new Error('there is no nginx here')
  const folder = await mkdtemp(join(tmpdir(), 'vitascope-nginx-'))
  await chmod(folder, 0o755)
  const port = await freePort()
  for (const [name, text] of Object.entries(configure({ port, folder }))) {
    await mkdir(dirname(join(folder, name)), { recursive: true })
    await writeFile(join(folder, name), text)
  }
  // As root, workers would run as another user, who cannot read the files of tests.
  const user = process.getuid?.() === 0 ? ['-g', 'user root;'] : []
  const child = spawn(program, ['-p', folder, '-c', join(folder, 'nginx.conf'), '-e', 'stderr', ...user], {
    stdio: ['ignore', 'inherit', 'inherit'],
  })
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
