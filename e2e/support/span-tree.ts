import type { ReceivedSpan } from '@vitascope/testing'

/** A span with its children, in the order of their start. */
export interface SpanNode {
  span: ReceivedSpan
  children: SpanNode[]
}

/** Returns the spans without a received parent, each with its descendants. */
export function buildTrees(spans: readonly ReceivedSpan[]): SpanNode[] {
  const nodes = new Map(spans.map((span) => [span.spanId, { span, children: [] } as SpanNode]))
  const roots: SpanNode[] = []
  for (const node of [...nodes.values()].sort((a, b) => Number(a.span.startTime - b.span.startTime))) {
    const siblings = nodes.get(node.span.parentSpanId)?.children ?? roots
    siblings.push(node)
  }
  return roots
}

/**
 * Returns the tree as indented lines `SERVICE: NAME`. `isShown` selects the spans; children of a
 * hidden span move to its parent. Equal neighbours are one line.
 */
export function formatTree(nodes: readonly SpanNode[], isShown: (span: ReceivedSpan) => boolean = () => true, depth = 0): string[] {
  const lines = nodes.flatMap((node) => {
    if (!isShown(node.span)) return formatTree(node.children, isShown, depth)
    const line = `${'  '.repeat(depth)}${node.span.service}: ${node.span.name}`
    return [line, ...formatTree(node.children, isShown, depth + 1)]
  })
  return lines.filter((line, index) => line !== lines[index - 1])
}
