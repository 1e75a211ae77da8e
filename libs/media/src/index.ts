export { checkInit, checkSegment, listChunk } from './check-segment.ts'
export { chunkMemoryBytes } from './chunk-memory.ts'
export { codecName } from './codec-name.ts'
export { type ChunkEncode, canExecutePlan, chunkFolder, chunkKeys, encodeChunk, hasCopy } from './encode-chunk.ts'
export { segmentNames } from './encode-command.ts'
export { officeFilterCommand } from './filter-command.ts'
export { FfmpegNotFound, type FfmpegTools, findFfmpeg } from './find-ffmpeg.ts'
export { toNumber } from './frame-rate.ts'
export { mediaPlaylist, type Segment } from './hls-playlist.ts'
export { aliasKeys, defaultKeys, type FrameSize, ladder, type Rung, sizeFor, standardKeys } from './ladder.ts'
export { EncodeError, type FailureKind, InvalidSource, type InvalidSourceCode, isEncodeError, isInvalidSource } from './media-errors.ts'
export { readSegmentHead, type SegmentHead } from './mp4-boxes.ts'
export { type Packaging, packageRenditions } from './package-renditions.ts'
export { type PictureCodec, pictureEncoders } from './picture-codec.ts'
export { PICTURE_HEAD_BYTES, type PictureFormat, sniffPicture } from './picture-file.ts'
export {
  audioChunk,
  chunkIndexes,
  type EncodePlan,
  type PlannedRendition,
  type PlanOptions,
  planEncode,
  planVersion,
} from './plan.ts'
export { maxSounds, type PlannedAudio, type PlannedAudioTrack, type PlannedSound } from './plan-audio.ts'
export type { PlannedChunk } from './plan-chunks.ts'
export { type PackagedTrack, planMaster } from './plan-master.ts'
export { makePosterImages, type PosterImageSizes, type PosterImages, posterImageNames, posterLimits } from './poster-images.ts'
export { type ProbeOptions, probeSource } from './probe.ts'
export { createProgress, type ProgressReport, progressLines } from './progress.ts'
export { defaultLimits, type RunLimits, type Sandbox, sandboxFor } from './sandbox.ts'
export { type RunResult, runSandboxed, type SandboxedRun } from './sandboxed-process.ts'
export { linkSource, sourceName } from './scratch.ts'
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
export { SUPPORTED_BUILDS, type SupportedBuild } from './supported-builds.ts'
export { linkOutput, type OutputFile, type OutputFolder, openOutputFolder, readOutput, useOutput, withOutput } from './tool-output.ts'
export { createRunFolders } from './tool-user.ts'
export { type SetFile, type SetFileKind, type Verification, verifySet } from './verify.ts'
