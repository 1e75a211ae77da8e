import { chunkNumbers, encodeChunk, findFfmpeg, packageRenditions, planEncode, probeSource, verifySet } from '@vitascope/media'

// What a worker does with one source, as a program of its own so that all of its cost is counted: node our-encode.ts SOURCE SCRATCH FFMPEG
const [source = '', scratch = '', path] = process.argv.slice(2)
const tools = await findFfmpeg({ path })
const probe = await probeSource({ source, scratch, tools })
const plan = planEncode({ probe, tools })
for (const chunkIndex of chunkNumbers(plan)) await encodeChunk({ plan, chunkIndex, source, scratch, tools })
await packageRenditions({ plan, scratch, tools })
await verifySet({ plan, scratch, tools })
