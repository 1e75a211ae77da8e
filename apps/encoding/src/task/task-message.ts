import { type CompleteTaskRequest, FilesResult as FilesResultMessage, type Task } from '@vitascope/proto/encoding/v1/work'
import {
  CODEC_CODES,
  MalformedMessage,
  readCodecs,
  readPlanMessage,
  readProbeMessage,
  required,
  toPlanMessage,
  toProbeMessage,
} from './plan-message.ts'
import type { FilesResult, ProbeResult, StoredSource, TaskInput, TaskResult } from './task.ts'

type InputMessage = Task['input']
type ResultMessage = CompleteTaskRequest['result']

/** Returns the input of a task as the service sends it to a worker. */
export function toInputMessage(input: TaskInput): NonNullable<InputMessage> {
  switch (input.kind) {
    case 'probe': {
      const { source, maxSeconds } = input
      return { $case: 'probe', value: { source, maxSeconds } }
    }
    case 'encode': {
      const { source, plan, chunk, workPrefix } = input
      return { $case: 'encode', value: { source, plan: toPlanMessage(plan), chunk, workPrefix } }
    }
    case 'package': {
      const { plan, chunks, setPrefix, workPrefix } = input
      return { $case: 'package', value: { plan: toPlanMessage(plan), chunks, setPrefix, workPrefix } }
    }
    case 'slides': {
      const { source, setPrefix, workPrefix } = input
      return { $case: 'slides', value: { source, setPrefix, workPrefix } }
    }
    case 'poster': {
      const { source, setPrefix, workPrefix, atSeconds } = input
      return { $case: 'poster', value: { source, setPrefix, workPrefix, atSeconds } }
    }
  }
}

/** Returns the input of a leased task. Throws `MalformedMessage`. */
export function readInputMessage(message: InputMessage): TaskInput {
  const { $case: kind, value } = required('input', message)
  switch (kind) {
    case 'probe':
      return { kind, source: readSource(value.source), maxSeconds: value.maxSeconds }
    case 'encode': {
      const { source, plan, chunk, workPrefix } = value
      return { kind, source: readSource(source), plan: readPlanMessage(required('input.plan', plan)), chunk, workPrefix }
    }
    case 'package': {
      const { plan, ...input } = value
      return { kind, ...input, plan: readPlanMessage(required('input.plan', plan)) }
    }
    case 'slides':
      return { kind, ...value, source: readSource(value.source) }
    case 'poster': {
      const { source, setPrefix, workPrefix, atSeconds } = value
      return { kind, source: readSource(source), setPrefix, workPrefix, atSeconds }
    }
  }
}

/** Returns the result of a task as a worker sends it to the service. */
export function toResultMessage(result: TaskResult): NonNullable<ResultMessage> {
  if (result.kind === 'files') return { $case: 'files', value: FilesResultMessage.fromPartial({ list: result.list }) }
  const { probe, build } = result
  return {
    $case: 'probe',
    value: { probe: toProbeMessage(probe), build: { ...build, codecs: build.codecs.map((codec) => CODEC_CODES[codec]) } },
  }
}

/**
 * Returns the result of a probe. Throws `MalformedMessage`, also for the result of another kind of
 * task.
 */
export function readProbeResult(message: ResultMessage): ProbeResult {
  if (message?.$case !== 'probe') throw new MalformedMessage('probe')
  const { probe, build } = message.value
  const { codecs, ...ffmpeg } = required('probe.build', build)
  return {
    kind: 'probe',
    probe: readProbeMessage(required('probe.probe', probe)),
    build: { ...ffmpeg, codecs: readCodecs('probe.build.codecs', codecs) },
  }
}

/** Returns the result of any other kind of task. Throws `MalformedMessage`. */
export function readFilesResult(message: ResultMessage): FilesResult {
  if (message?.$case !== 'files') throw new MalformedMessage('files')
  return { kind: 'files', list: required('files.list', message.value.list) }
}

function readSource(source: StoredSource | undefined): StoredSource {
  return required('input.source', source)
}
