import type { SpanDescription } from '@vitascope/telemetry'

const TABLE = '([a-z_][a-z0-9_]*)'
const WRITE = new RegExp(`(insert into|(?<!for |for no key )update|delete from|copy) ${TABLE}`, 'i')
const READ = new RegExp(`from ${TABLE}`, 'i')

/** Returns the span of a statement: its operation and first table. It has neither the text nor values. */
export function describeStatement(text: string): SpanDescription {
  const write = WRITE.exec(text)
  const [operation = '', table] = write ? [firstWord(write[1]), write[2]] : [firstWord(text), READ.exec(text)?.[1]]
  // Statements that only read may begin with a common table expression.
  const verb = operation === 'with' ? 'select' : operation
  return {
    name: table === undefined ? verb : `${verb} ${table}`,
    kind: 'client',
    attributes: { 'db.system.name': 'postgresql', 'db.operation.name': verb, ...(table !== undefined && { 'db.collection.name': table }) },
  }
}

function firstWord(text = ''): string {
  return /[a-z]+/i.exec(text)?.[0].toLowerCase() ?? 'statement'
}
