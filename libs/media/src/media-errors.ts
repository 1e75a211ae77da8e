/**
 * Reason why a source cannot become a video, as the public code of a failed job: 4001 unreachable,
 * 4002 not a video, 4003 too large or too long, 4004 forbidden address, 4005 cancelled. A retry
 * does not help.
 */
export type InvalidSourceCode = 4001 | 4002 | 4003 | 4004 | 4005

/**
 * Thrown if the source is rejected. `message` is a sentence for the uploader; it contains no path
 * and no tool output.
 */
export class InvalidSource extends Error {
  readonly code: InvalidSourceCode

  constructor(code: InvalidSourceCode, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause })
    this.name = 'InvalidSource'
    this.code = code
  }
}

/**
 * Kind of failure of an ffmpeg or ffprobe run.
 *
 * - `crashed`: a signal or an exit code other than 0
 * - `stalled`: no progress for the stall time
 * - `timeout`: exceeded its wall or CPU time
 * - `aborted`: by the caller's signal
 * - `out_of_memory`: exceeded its memory limit
 * - `output_too_large`: a file exceeded its size limit
 * - `incomplete`: it exited with 0, but its output differs from the plan
 * - `unclean`: the picture was to be copied, but reading it reported errors; plan again with
 *   `canCopyPictures: false`
 */
export type FailureKind = 'crashed' | 'stalled' | 'timeout' | 'aborted' | 'out_of_memory' | 'output_too_large' | 'incomplete' | 'unclean'

/**
 * Thrown if a run fails for another reason than its source. `detail` is the end of the tool's
 * output, for the log only.
 */
export class EncodeError extends Error {
  readonly kind: FailureKind
  readonly detail: string

  constructor(kind: FailureKind, message: string, detail = '') {
    super(message)
    this.name = 'EncodeError'
    this.kind = kind
    this.detail = detail
  }
}

export function isInvalidSource(error: unknown): error is InvalidSource {
  return error instanceof InvalidSource
}

export function isEncodeError(error: unknown): error is EncodeError {
  return error instanceof EncodeError
}
