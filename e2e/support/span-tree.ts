import type { ReceivedSpan } from '@vitascope/testing'

/** A span with its children. */
export interface SpanNode {
  span: ReceivedSpan
  children: SpanNode[]
}

/** Returns the spans without a received parent, each with its descendants. */
export function buildTrees(spans: readonly ReceivedSpan[]): SpanNode[] {
  const nodes = new Map(spans.map((span) => [span.spanId, { span, children: [] } as SpanNode]))
  const roots: SpanNode[] = []
  for (const node of nodes.values()) {
    const siblings = nodes.get(node.span.parentSpanId)?.children ?? roots
    siblings.push(node)
  }
  return roots
}

/**
 * Returns the tree as indented lines `SERVICE: NAME`. `isShown` selects the spans; children of a
 * hidden span move to its parent. Siblings are in the order of their text, and equal ones are one.
 */
export function formatTree(nodes: readonly SpanNode[], isShown: (span: ReceivedSpan) => boolean): string[] {
  return formatTexts(nodes, isShown).flatMap((text) => text.split('\n'))
}

function formatTexts(nodes: readonly SpanNode[], isShown: (span: ReceivedSpan) => boolean): string[] {
  const texts = nodes.flatMap(({ span, children }) => {
    const below = formatTexts(children, isShown)
    return isShown(span) ? [[`${span.service}: ${span.name}`, ...below.map(indent)].join('\n')] : below
  })
  return [...new Set(texts)].sort()
}

function indent(text: string): string {
  return text.replaceAll(/^/gm, '  ')
}
