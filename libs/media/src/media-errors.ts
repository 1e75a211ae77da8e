/**
 * Why a source cannot become a video, by the public codes of a failed job: 4001 unreachable, 4002 not a video, 4003 too large or too long,
 * 4004 forbidden address, 4005 cancelled. The source's own fault: trying again changes nothing.
 */
export type RefusalCode = 4001 | 4002 | 4003 | 4004 | 4005

/** The source is refused. `message` is a sentence for the uploader; it holds no path and no output of a tool. */
export class SourceRefused extends Error {
  readonly code: RefusalCode

  constructor(code: RefusalCode, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause })
    this.name = 'SourceRefused'
    this.code = code
  }
}

/**
 * How a run of ffmpeg or ffprobe ended badly.
 *
 * - `crashed`: a signal or an exit code other than 0
 * - `stalled`: no progress for the stall time
 * - `timeout`: past its wall or CPU time
 * - `aborted`: by the caller's signal
 * - `out_of_memory`: past its memory limit
 * - `output_too_large`: a file past its size limit
 * - `incomplete`: it ended well, but what it left is not what was planned
 * - `unclean`: the picture was to be copied, and could not be read without a complaint: plan again, with `copies: false`
 */
export type FailureKind = 'crashed' | 'stalled' | 'timeout' | 'aborted' | 'out_of_memory' | 'output_too_large' | 'incomplete' | 'unclean'

/** An encode failed by itself, not by its source. `detail` is for the log only: the end of what the tool said. */
export class EncodeFailed extends Error {
  readonly kind: FailureKind
  readonly detail: string

  constructor(kind: FailureKind, message: string, detail = '') {
    super(message)
    this.name = 'EncodeFailed'
    this.kind = kind
    this.detail = detail
  }
}

export function isSourceRefused(error: unknown): error is SourceRefused {
  return error instanceof SourceRefused
}

export function isEncodeFailed(error: unknown): error is EncodeFailed {
  return error instanceof EncodeFailed
}
