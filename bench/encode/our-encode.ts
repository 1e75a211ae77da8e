import {
  chunkIndexes,
  encodeChunk,
  findFfmpeg,
  isEncodeError,
  packageRenditions,
  planEncode,
  probeSource,
  verifySet,
} from '@vitascope/media'

// Encodes one source like a worker. It is a separate program, so that its total cost is measured:
// node our-encode.ts SOURCE SCRATCH KILL_AT FFMPEG COPIES
// KILL_AT: share of the frames after which ffmpeg is killed, or 0. FFMPEG: path, or '' for the default.
// COPIES: '' encodes a picture that could be copied.
const [source = '', scratch = '', share = '0', path = '', copies = 'copies'] = process.argv.slice(2)
const tools = await findFfmpeg({ path: path || undefined })
const probe = await probeSource({ source, scratch, tools })
const plan = planEncode({ probe, tools, canCopyPictures: copies !== '' })
const killAt = Number(share) > 0 ? Math.floor((plan.video?.frames ?? 0) * Number(share)) : Number.POSITIVE_INFINITY
const killed = new AbortController()
for (const chunkIndex of chunkIndexes(plan)) {
  const before = plan.chunks[chunkIndex]?.startFrame ?? Number.NEGATIVE_INFINITY
  const onProgress = ({ frame }: { frame: number }) => {
    if (before + frame >= killAt) killed.abort()
  }
  const work = { plan, chunkIndex, source, scratch, tools }
  try {
    await encodeChunk(killed.signal.aborted ? work : { ...work, onProgress, signal: killed.signal })
  } catch (error) {
    if (!isEncodeError(error) || error.kind !== 'aborted') throw error
    await encodeChunk(work)
  }
}
await packageRenditions({ plan, scratch, tools })
await verifySet({ plan, scratch, tools })
