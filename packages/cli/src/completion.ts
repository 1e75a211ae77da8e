import type { Command } from 'commander'

export const SHELLS = ['bash', 'zsh', 'fish'] as const
export type Shell = (typeof SHELLS)[number]

/** Returns the script with which a shell completes the names of commands and options. */
export function completionScript(shell: Shell, program: Command): string {
  const paths = listPaths(program)
  if (shell === 'fish') return `${paths.map(([path, words]) => fishLine(path, words)).join('\n')}\n`
  const cases = paths.map(([path, words]) => `    '${path.join(' ')}') words='${words.join(' ')}' ;;`)
  const body = `_vitascope() {
  local path='' word words=''
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case "$word" in -*) ;; *) path="\${path:+$path }$word" ;; esac
  done
  while :; do
    case "$path" in
${cases.join('\n')}
    esac
    if [ -n "$words" ] || [ -z "$path" ]; then break; fi
    case "$path" in *' '*) path="\${path% *}" ;; *) path='' ;; esac
  done
  COMPREPLY=($(compgen -W "$words" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _vitascope vitascope
`
  return shell === 'zsh' ? `autoload -U +X bashcompinit && bashcompinit\n${body}` : body
}

/** Returns the path of each command with its subcommands and options. */
function listPaths(command: Command, path: readonly string[] = []): [path: readonly string[], words: string[]][] {
  const words = [...command.commands.map((child) => child.name()), ...command.options.map(({ long }) => long ?? '')].filter(
    (word) => word !== '',
  )
  return [[path, words], ...command.commands.flatMap((child) => listPaths(child, [...path, child.name()]))]
}

function fishLine(path: readonly string[], words: readonly string[]): string {
  const condition = path.length === 0 ? '__fish_use_subcommand' : path.map((name) => `__fish_seen_subcommand_from ${name}`).join('; and ')
  return `complete -c vitascope -n '${condition}' -a '${words.join(' ')}'`
}
