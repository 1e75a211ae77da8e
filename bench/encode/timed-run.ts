import { spawn } from 'node:child_process'

/** Seconds of CPU time (user and system, including all awaited children) and of wall time. */
export interface Cost {
  cpuSeconds: number
  wallSeconds: number
}

/** Runs a program and returns its cost. The `time` of bash includes the children of children. */
export function timedRun(program: string, args: readonly string[], folder: string): Promise<Cost> {
  return new Promise((resolve, reject) => {
    const script = 'TIMEFORMAT="cost %U %S %R"; time "$@"'
    const child = spawn('bash', ['-c', script, 'bash', program, ...args], { cwd: folder, stdio: ['ignore', 'ignore', 'pipe'] })
    let stderr = ''
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      stderr = (stderr + text).slice(-8192)
    })
    child.once('error', reject)
    child.once('close', (code) => {
      const cost = /cost ([\d.]+) ([\d.]+) ([\d.]+)\n$/.exec(stderr)
      if (code !== 0 || !cost) return reject(new Error(`${program} exited with ${code}: ${stderr}`))
      const [user = 0, system = 0, wallSeconds = 0] = cost.slice(1).map(Number)
      resolve({ cpuSeconds: user + system, wallSeconds })
    })
  })
}
