/** One progress report of ffmpeg. */
export interface ProgressReport {
  /** Frames of the first video output so far; 0 if there is none. */
  frame: number
  seconds: number
}

/**
 * Returns a function that reads the lines of `-progress`. It returns true for a line that shows
 * progress.
 */
export function progressLines(onReport: (report: ProgressReport) => void): (line: string) => boolean {
  const report: ProgressReport = { frame: 0, seconds: 0 }
  let bytes = 0
  let hasAdvanced = false
  return (line) => {
    const [name, value = ''] = line.split('=', 2)
    const number = Number(value)
    if (name === 'progress') {
      const advanced = hasAdvanced
      hasAdvanced = false
      if (advanced) onReport({ ...report })
      return advanced
    }
    if (!Number.isFinite(number)) return false
    if (name === 'frame' && number > report.frame) {
      report.frame = number
      hasAdvanced = true
    } else if (name === 'out_time_us' && number / 1e6 > report.seconds) {
      report.seconds = number / 1e6
      hasAdvanced = true
    } else if (name === 'total_size' && number > bytes) {
      bytes = number
      hasAdvanced = true
    }
    return false
  }
}

/**
 * Returns functions that report the percentage of a job: 6 to 96 while frames are encoded, then 97
 * to 99 for packaging and verification, which the frame reports of ffmpeg do not include. An
 * accepted job has 5. The percentage never decreases.
 */
export function createProgress(planned: { frames: number; seconds: number }, onPercent: (percent: number) => void) {
  let reported = 5
  const setPercent = (percent: number) => {
    const next = Math.min(99, Math.floor(percent))
    if (next <= reported) return
    reported = next
    onPercent(next)
  }
  return {
    encoding: (report: ProgressReport) => {
      const share = planned.frames > 0 ? report.frame / planned.frames : report.seconds / Math.max(planned.seconds, 0.001)
      setPercent(6 + 90 * Math.min(1, Math.max(0, share)))
    },
    packaging: () => setPercent(97),
    verifying: () => setPercent(98),
    verified: () => setPercent(99),
  }
}
