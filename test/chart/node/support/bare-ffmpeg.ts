import { findFfmpeg } from '@vitascope/media'
import { readBaselines } from '../../../../bench/encode/baseline.ts'
import { IMAGES } from '../../../cluster/images/images.ts'
import { apply, kubectl } from './commands.ts'

/** CPU time and wall time of a run. */
export interface Cost {
  cpuSeconds: number
  wallSeconds: number
}

/** A pod with one processor that runs single commands of the workers' ffmpeg. */
export interface BareFfmpeg {
  /** Runs a command of bench/encode/baseline.txt. */
  run(name: string): Promise<Cost>
  /** Returns hashes of the first frames of the last output. */
  getFrames(rendition: string, count: number): Promise<string>
  end(): Promise<void>
}

const POD = 'bare'
const FOLDERS = ['h264_100', 'h264_250', 'h264_360', 'h264_500', 'h264_800', 'h264_1200', 'audio_32', 'audio_64', 'audio_128', 'images']

/**
 * Starts the pod and downloads the source into it. `minutes` is the length of the source. The commands are written for
 * one minute, so their times are scaled.
 */
export async function bareFfmpeg(sourceUrl: string, minutes: number): Promise<BareFfmpeg> {
  await apply([buildPod()])
  await kubectl('wait', '--for=condition=Ready', `pod/${POD}`, '--timeout=120s')
  const source = '/tmp/source.mp4'
  const fetched = `const { writeFile } = require('node:fs/promises'); fetch('${sourceUrl}').then((response) => response.bytes()).then((bytes) => writeFile('${source}', bytes))`
  await kubectl('exec', POD, '--', 'node', '--eval', fetched)
  // The pod has the CPU type of this machine.
  const commands = await readBaselines(source, await findFfmpeg())
  const shell = (script: string, ...args: readonly string[]) => kubectl('exec', POD, '--', 'bash', '-c', script, 'bash', ...args)
  return {
    async run(name) {
      const args = (commands.get(name) ?? []).map((arg, index, all) => forMinutes(arg, all[index - 1], minutes))
      const setup = `rm -rf /tmp/made && mkdir -p ${FOLDERS.map((folder) => `/tmp/made/${folder}`).join(' ')} && cd /tmp/made`
      const output = await shell(
        `${setup} && TIMEFORMAT='cost %U %S %R' && { time ffmpeg -nostdin -loglevel error -nostats -y "$@"; } 2>&1`,
        ...args,
      )
      const cost = /^cost ([\d.]+) ([\d.]+) ([\d.]+)$/m.exec(output)
      if (!cost) throw new Error(`output of ffmpeg: ${output}`)
      const [user = 0, system = 0, wallSeconds = 0] = cost.slice(1).map(Number)
      return { cpuSeconds: user + system, wallSeconds }
    },
    getFrames: async (rendition, count) =>
      parseHashes(await shell(`ffmpeg -v error -i /tmp/made/${rendition}.mp4 -map 0:v -frames:v ${count} -f framemd5 -`)),
    end: async () => void (await kubectl('delete', 'pod', POD, '--grace-period=0', '--force')),
  }
}

/** Returns the hash of each frame from the output of framemd5. */
export function parseHashes(lines: string): string {
  return lines
    .split('\n')
    .filter((line) => /^\d/.test(line))
    .map((line) => line.split(',').at(-1)?.trim())
    .join()
}

/** Scales the times of images to the length of the source. */
function forMinutes(arg: string, before: string | undefined, minutes: number): string {
  if (before === '-ss') return String(Number(arg) * minutes)
  return arg.replaceAll(/eq\(n\\,(\d+)\)/g, (_, frame: string) => `eq(n\\,${Number(frame) * minutes})`)
}

function buildPod(): object {
  const container = {
    name: POD,
    image: IMAGES.encoding,
    imagePullPolicy: 'Never',
    args: ['--eval', 'setInterval(() => {}, 1e9)'],
    resources: { limits: { cpu: '1' } },
    securityContext: { allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, capabilities: { drop: ['ALL'] } },
    volumeMounts: [{ name: 'tmp', mountPath: '/tmp' }],
  }
  const spec = {
    automountServiceAccountToken: false,
    enableServiceLinks: false,
    securityContext: { runAsNonRoot: true, runAsUser: 10_001, fsGroup: 10_001, seccompProfile: { type: 'RuntimeDefault' } },
    containers: [container],
    volumes: [{ name: 'tmp', emptyDir: {} }],
  }
  return { apiVersion: 'v1', kind: 'Pod', metadata: { name: POD, namespace: 'default' }, spec }
}
