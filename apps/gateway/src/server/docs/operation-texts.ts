import { findSuccessor, isShortForm } from '../route/deprecation.ts'
import type { Access, Route } from '../route/route.ts'
import { expandTargets, publicName, type Target } from '../route/route-index.ts'

export interface OperationTexts {
  operationId: string
  summary: string
  description: string
  deprecated?: true
}

/**
 * Returns the id and the texts of an operation. Aliases are deprecated. A path without its optional
 * parts is not. Both have ids and summaries of their own, because generated clients require
 * different names.
 */
export function operationTexts(target: Target): OperationTexts {
  const { route, documented } = target
  const targets = expandTargets(route)
  const first = targets[0]
  if (documented || !first) return { operationId: route.operationId, summary: route.summary, description: description(route) }
  const full = `\`${route.operationId}\` (\`${first.verb.toUpperCase()} ${publicPath(first)}\`)`
  if (!findSuccessor(target)) {
    const omitted = first.params.slice(target.params.length).map(publicName)
    return {
      operationId: `${route.operationId}Without${omitted[0]?.split('_').map(capital).join('')}`,
      summary: `${route.summary} (path without ${omitted[0]})`,
      description: description(route, `Short form of ${full}.`),
    }
  }
  return {
    operationId: `${route.operationId}${aliasSuffix(target, targets)}`,
    summary: `${route.summary} (${target.verb === route.verb ? 'old path' : `by ${target.verb.toUpperCase()}`})`,
    description: description(route, `Deprecated. See ${full}.`),
    deprecated: true,
  }
}

/** Returns `ByPut`, or `Alias` for another path with the same method. Further ones are numbered. */
function aliasSuffix({ verb, path, route }: Target, targets: readonly Target[]): string {
  const aliases = targets.slice(1).filter((other) => other.verb === verb && !isShortForm(other, targets[0] ?? other))
  const number = aliases.findIndex((other) => other.path === path) + 1
  return `${verb === route.verb ? 'Alias' : `By${capital(verb)}`}${number > 1 ? number : ''}`
}

function description(route: Route, first?: string): string {
  const errorCodes = Object.entries(route.errorCodes).map(([code, text]) => `- \`${code}\`: ${text}`)
  return [
    ...(first === undefined ? [] : [first]),
    ...(route.description === '' ? [] : [route.description]),
    ACCESS_TEXT[route.access],
    ...(route.access === 'public' ? [] : [`ACL resource: \`${route.resource}\`.`]),
    ...(errorCodes.length > 0 ? [`Specific error codes:\n${errorCodes.join('\n')}`] : []),
  ].join('\n\n')
}

const ACCESS_TEXT: Record<Access, string> = {
  public: 'Requires no key. A key that is sent must be valid.',
  user: 'Requires a key of any user.',
  super: 'Requires a key of a super user or a system user.',
  system: 'Requires a key of a system user.',
}

function publicPath({ path }: Target): string {
  return path.replaceAll(/:(\w+)/g, (_, name: string) => `{${publicName(name)}}`)
}

function capital(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1)
}
