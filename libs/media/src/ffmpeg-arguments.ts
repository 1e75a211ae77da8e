import ffmpeg from 'fluent-ffmpeg'

/** One `-i`: its options stand in front of it. `file` is a name made by the server, relative to the scratch folder. */
export interface FfmpegInput {
  file: string
  options: readonly string[]
}

/** One output with the options that stand in front of it. */
export interface FfmpegOutput {
  /** A name made by the server, relative to the scratch folder, or `pipe:1` for stdout. */
  file: string
  options: readonly string[]
}

export interface FfmpegCommandLine {
  inputs: readonly FfmpegInput[]
  /** Filter graphs apart from each other; a slow one does not hold back the others. */
  graphs: readonly string[]
  outputs: readonly FfmpegOutput[]
}

/**
 * The argument list of one ffmpeg run that reports its progress on stdout, twice a second. The only file that knows fluent-ffmpeg.
 * No option may hold a blank: fluent-ffmpeg splits there.
 */
export function ffmpegArguments(line: FfmpegCommandLine): string[] {
  const command = ffmpeg()
  for (const input of line.inputs) command.input(`file:${input.file}`).inputOptions([...input.options])
  const [first, ...others] = line.graphs
  if (first !== undefined) command.complexFilter(first)
  line.outputs.forEach((output, index) => {
    // fluent-ffmpeg knows a single -filter_complex; the option is global, so any place will do.
    const graphs = index === 0 ? others.flatMap((graph) => ['-filter_complex', graph]) : []
    command.output(output.file === 'pipe:1' ? output.file : `file:${output.file}`).outputOptions([...graphs, ...output.options])
  })
  // The list without running it is a private method of a package whose last version is out: it will not move any more.
  const list = (command as unknown as { _getArguments(): string[] })._getArguments()
  return [...everyRun, ...list]
}

const everyRun = ['-hide_banner', '-nostdin', '-nostats', '-loglevel', 'error', '-progress', 'pipe:1', '-stats_period', '0.5']
