/**
 * The reason why an attempt ended without a result.
 *
 * Faults of the source, never retried: 4001 unreachable, 4002 not a video, 4003 too large or too
 * long, 4004 forbidden address, 4005 cancelled. Internal faults: 5000 anything unforeseen, 5001 the
 * worker was lost, 5002 the encoder crashed or hung, 5003 the result differs from the plan, 5004
 * the storage failed, 5005 the plan is for another build of the encoder, 5006 the encoder for this
 * codec is missing, 5007 the video stream to be copied cannot be decoded without errors.
 *
 * If the plan copies the video stream of the source, 5002, 5003 and 5007 lead to a new plan without
 * the copy, in the same attempt (`copyFallbackFor`).
 */
export interface Fault {
  code: number
  /** For humans. It contains no secret and no path. */
  message: string
}

const STORAGE_FAILED = 5004

export function isStorageFault({ code }: Fault): boolean {
  return code === STORAGE_FAILED
}

export function isOfSource(code: number): boolean {
  return code >= 4001 && code <= 4005
}
