import type { SpanAttributes, SpanDescription } from '@vitascope/telemetry'

/** Describes the span in which one process runs a leased task. */
export function describeTask(
  { kind, taskId, fence }: { kind: string; taskId: string; fence: number },
  more: SpanAttributes = {},
): SpanDescription {
  return {
    name: `task ${kind}`,
    kind: 'consumer',
    attributes: {
      'messaging.system': 'vitascope',
      'messaging.operation.name': 'process',
      'vitascope.task_kind': kind,
      'vitascope.task_id': taskId,
      'vitascope.fence': fence,
      ...more,
    },
  }
}
