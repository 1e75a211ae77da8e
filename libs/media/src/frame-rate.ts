import type { Rational, SourceVideo } from './source-probe.ts'

/**
 * Returns the constant frame rate of all renditions. It is the supported rate that is nearest to
 * the rate of the source. Supported rates are from 10 to 60 frames per second: integers, 12.5, and
 * broadcast rates such as 30000/1001. A rate outside of this range is first divided or multiplied
 * by an integer. For a variable rate, one of the next higher common rates is used.
 */
export function outputFrameRate(video: Pick<SourceVideo, 'frameRate' | 'variableRate'>): Rational {
  const rate = toNumber(video.frameRate)
  if (video.variableRate) return nearest(commonRates.filter((common) => toNumber(common) >= Math.min(60, rate * 0.98)).slice(0, 2), rate)
  const inRange = rate > 60.5 ? rate / Math.ceil(rate / 60.5) : rate < 9.75 ? rate * Math.ceil(10 / rate) : rate
  return nearest(constantRates, inRange)
}

/** Returns the number of frames between key frames, which are 2 s apart. */
export function groupFrames(rate: Rational): number {
  return Math.round(toNumber(rate) * 2)
}

export function toNumber(rate: Rational): number {
  return rate.numerator / rate.denominator
}

export function toRational(text: string): Rational | undefined {
  const [numerator = 0, denominator = 0] = text.split('/').map(Number)
  return numerator > 0 && denominator > 0 ? { numerator, denominator } : undefined
}

const integerRate = (rate: number): Rational => ({ numerator: rate, denominator: 1 })
const broadcast = [15_000, 24_000, 30_000, 60_000].map((numerator) => ({ numerator, denominator: 1001 }))
const constantRates: readonly Rational[] = [
  ...Array.from({ length: 51 }, (_, index) => integerRate(index + 10)),
  { numerator: 25, denominator: 2 },
  ...broadcast,
]
const commonRates: readonly Rational[] = [10, 12, 15, 20, 24, 25, 30, 48, 50, 60].map(integerRate)

function nearest(rates: readonly Rational[], target: number): Rational {
  const distance = (rate: Rational) => Math.abs(toNumber(rate) - target)
  return rates.reduce((best, rate) => (distance(rate) < distance(best) ? rate : best), rates[0] ?? integerRate(30))
}
