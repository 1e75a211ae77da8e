export { type ChunkEncode, chunkFolder, encodeChunk } from './encode-chunk.ts'
export { type FfmpegTools, findFfmpeg } from './find-ffmpeg.ts'
export { aliasKeys, type FrameSize, ladder, type Rung, sizeFor, standardKeys } from './ladder.ts'
export { type LockedRun, lockedRun, type RunEnd } from './locked-run.ts'
export { EncodeFailed, type FailureKind, isEncodeFailed, isSourceRefused, type RefusalCode, SourceRefused } from './media-errors.ts'
export { type Packaging, packageRenditions } from './package-renditions.ts'
export { type EncodePlan, type PlannedAudioTrack, type PlannedChunk, type PlannedRendition, type PlanQuestion, planEncode } from './plan.ts'
export { type ProbeQuestion, probeSource } from './probe.ts'
export { createProgress, type ProgressReport, progressLines } from './progress.ts'
export { defaultLimits, makeFolderFor, type RunLimits, type Sandbox, sandboxFor } from './sandbox.ts'
export { placeSource, plainFileBytes, sourceName } from './scratch.ts'
export { setFolder, setLayout } from './set-layout.ts'
export { makeSlideImages, type SlideImages, type SlidePicture } from './slide-images.ts'
export { type Container, sniffContainer } from './sniff.ts'
export {
  defaultSourceLimits,
  type Rational,
  type SourceAudio,
  type SourceLimits,
  type SourceProbe,
  type SourceVideo,
} from './source-probe.ts'
export { type SetFile, type SetFileKind, type Verification, verifySet } from './verify.ts'
