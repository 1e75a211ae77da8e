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
 * hidden span move to its parent. Siblings with the same line are one, with the children of all,
 * so that a repeated attempt changes nothing. Siblings are in the order of their lines.
 */
export function formatTree(nodes: readonly SpanNode[], isShown: (span: ReceivedSpan) => boolean): string[] {
  const children = new Map<string, SpanNode[]>()
  for (const { span, children: below } of showNodes(nodes, isShown)) {
    const line = `${span.service}: ${span.name}`
    children.set(line, [...(children.get(line) ?? []), ...below])
  }
  return [...children]
    .sort(([line], [other]) => (line < other ? -1 : 1))
    .flatMap(([line, below]) => [line, ...formatTree(below, isShown).map((text) => `  ${text}`)])
}

/** Replaces each hidden span by its children. */
function showNodes(nodes: readonly SpanNode[], isShown: (span: ReceivedSpan) => boolean): SpanNode[] {
  return nodes.flatMap((node) => (isShown(node.span) ? [node] : showNodes(node.children, isShown)))
}
