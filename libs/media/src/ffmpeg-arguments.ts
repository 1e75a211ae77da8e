import ffmpeg from 'fluent-ffmpeg'

/**
 * An input (`-i`) with the options before it. `file` is a server-generated name, relative to the
 * scratch folder.
 */
export interface FfmpegInput {
  file: string
  options: readonly string[]
}

/** An output with the options before it. */
export interface FfmpegOutput {
  /** A server-generated name, relative to the scratch folder, or `pipe:1` for stdout. */
  file: string
  options: readonly string[]
}

export interface FfmpegCommandLine {
  inputs: readonly FfmpegInput[]
  /** The filter graphs are separate options, so that a slow graph does not block the others. */
  graphs: readonly string[]
  outputs: readonly FfmpegOutput[]
}

/**
 * Returns the arguments of one ffmpeg run that reports its progress on stdout twice a second. Only
 * this file uses fluent-ffmpeg. Options must not contain spaces, where fluent-ffmpeg would split
 * them.
 */
export function ffmpegArguments(line: FfmpegCommandLine): string[] {
  const command = ffmpeg()
  for (const input of line.inputs) command.input(`file:${input.file}`).inputOptions([...input.options])
  const [first, ...others] = line.graphs
  if (first !== undefined) command.complexFilter(first)
  line.outputs.forEach((output, index) => {
    // fluent-ffmpeg supports only one -filter_complex. The option is global, so its position does
    // not matter.
    const graphs = index === 0 ? others.flatMap((graph) => ['-filter_complex', graph]) : []
    command.output(output.file === 'pipe:1' ? output.file : `file:${output.file}`).outputOptions([...graphs, ...output.options])
  })
  // Without a run, only a private method returns the arguments. The package is archived, so the
  // method will not change.
  const list = (command as unknown as { _getArguments(): string[] })._getArguments()
  return [...COMMON_ARGUMENTS, ...list]
}

const COMMON_ARGUMENTS = ['-hide_banner', '-nostdin', '-nostats', '-loglevel', 'error', '-progress', 'pipe:1', '-stats_period', '0.5']
