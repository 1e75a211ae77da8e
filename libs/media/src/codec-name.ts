/**
 * Returns the codec of an initialisation segment in RFC 6381 form: `avc1.64001F`,
 * `hvc1.1.6.L93.90`, `av01.0.05M.08` or `mp4a.40.2`. Returns undefined for other codecs.
 */
export function codecName(init: Buffer): string | undefined {
  const avcC = findBoxContent(init, 'avcC', 4)
  if (avcC) return `avc1.${avcC.toString('hex', 1, 4).toUpperCase()}`
  const hvcC = findBoxContent(init, 'hvcC', 13)
  if (hvcC) return hevcName(hvcC)
  const av1C = findBoxContent(init, 'av1C', 4)
  if (av1C) return av1Name(av1C)
  return init.includes('mp4a', 0, 'latin1') ? 'mp4a.40.2' : undefined
}

/** Returns the content after the name of a box, if there are at least `bytes` bytes. */
function findBoxContent(init: Buffer, box: string, bytes: number): Buffer | undefined {
  const position = init.indexOf(box, 0, 'latin1')
  return position >= 0 && position + 4 + bytes <= init.length ? init.subarray(position + 4) : undefined
}

/**
 * Formats the name by ISO/IEC 14496-15, annex E: profile, its compatibility flags in reverse bit
 * order, tier and level, then constraint flags up to the last one that is not zero.
 */
function hevcName(hvcC: Buffer): string {
  const first = hvcC[1] ?? 0
  const space = ['', 'A', 'B', 'C'][first >> 6] ?? ''
  const tier = (first & 0x20) === 0 ? 'L' : 'H'
  const compatible = Number.parseInt(hvcC.readUInt32BE(2).toString(2).padStart(32, '0').split('').reverse().join(''), 2)
  const flags = [...hvcC.subarray(6, 12)].map((byte) => byte.toString(16).toUpperCase())
  while (flags.at(-1) === '0') flags.pop()
  return ['hvc1', `${space}${first & 0x1f}`, compatible.toString(16).toUpperCase(), `${tier}${hvcC[12] ?? 0}`, ...flags].join('.')
}

/**
 * Formats the name by AV1 Codec ISO Media File Format Binding, section 5: profile, level and tier,
 * bit depth. The other fields are omitted, which means the defaults of a 4:2:0 picture.
 */
function av1Name(av1C: Buffer): string {
  const [, levels = 0, depths = 0] = av1C
  const padTwoDigits = (value: number) => String(value).padStart(2, '0')
  const depth = (depths & 0x40) === 0 ? 8 : (depths & 0x20) === 0 ? 10 : 12
  return `av01.${levels >> 5}.${padTwoDigits(levels & 0x1f)}${(depths & 0x80) === 0 ? 'M' : 'H'}.${padTwoDigits(depth)}`
}
