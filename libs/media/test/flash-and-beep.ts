import type { MediaFixture } from './media-fixtures.ts'

/**
 * Returns the times at which the picture turns white and the sound starts, in seconds by the time
 * stamps of the file. Without `-copyts`, ffmpeg would count from the start of the only stream that
 * it reads.
 */
export async function flashAndBeep(
  { ffmpeg }: Pick<MediaFixture, 'ffmpeg'>,
  file: string,
): Promise<{ pictureSeconds: number; soundSeconds: number }> {
  const input = ['-copyts', '-i', file]
  const brightness = 'scale=160:-2:out_range=tv,format=gray,signalstats,metadata=print:key=lavfi.signalstats.YAVG:file=-'
  const loudness = 'asetnsamples=n=240,astats=metadata=1:reset=1,ametadata=print:key=lavfi.astats.Overall.RMS_level:file=-'
  const light = values((await ffmpeg(...input, '-map', '0:v:0', '-vf', brightness, '-f', 'null', '-')).stdout)
  const sound = values((await ffmpeg(...input, '-map', '0:a:0', '-af', `aresample=48000,${loudness}`, '-f', 'null', '-')).stdout)
  const levels = light.map(([, level]) => level).sort((a, b) => a - b)
  const half = ((levels.at(-1) ?? 0) + (levels[levels.length >> 1] ?? 0)) / 2
  return { pictureSeconds: firstAbove(light, half), soundSeconds: firstAbove(sound, -26) }
}

/** Returns times and measured values from the output of the filter metadata=print. */
function values(text: string): [time: number, level: number][] {
  return [...text.matchAll(/pts_time:(\S+)\s+\S+=(-?[\d.]+|-?inf)/g)].map(([, time, level]) => [Number(time), Number(level)])
}

function firstAbove(measured: readonly [number, number][], level: number): number {
  return measured.find(([, value]) => value > level)?.[0] ?? Number.NaN
}
