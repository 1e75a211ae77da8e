import { COMMANDS, type Command } from './commands.ts'

/** Returns the help of one command, or the list of all commands. */
export function formatHelp(name?: string): string {
  const command = name === undefined ? undefined : COMMANDS[name]
  return name === undefined || command === undefined ? overview() : commandHelp(name, command)
}

function overview(): string {
  const rows = Object.entries(COMMANDS).map(([name, { summary }]) => [name, summary] as const)
  return `usage: vitascope COMMAND [OPTIONS]\n\n${table(rows)}\n\nvitascope COMMAND --help describes a command. npm run COMMAND -- OPTIONS runs it in a checkout.\n`
}

function commandHelp(name: string, { summary, args, platform }: Command): string {
  const synopsis = ['vitascope', name, ...Object.keys(args)].join(' ')
  const described = Object.entries(args).map(([arg, meaning]) => [arg.replace(/^\[(.*)\]$/, '$1'), meaning] as const)
  return `${[`usage: ${synopsis}`, summary, ...(described.length > 0 ? [table(described)] : []), platform].join('\n\n')}\n`
}

function table(rows: readonly (readonly [string, string])[]): string {
  const width = Math.max(...rows.map(([name]) => name.length))
  return rows.map(([name, text]) => `  ${name.padEnd(width)}  ${text}`).join('\n')
}
