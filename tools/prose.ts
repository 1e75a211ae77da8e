import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from './lib/run-command.ts'

/** Words to avoid, each with the term of `docs/glossary.md` or of plain technical English. */
const WORDS: readonly [RegExp, string][] = [
  [/\bwhoever\b/i, 'name the caller'],
  [/\b(nobody|anybody|somebody|everybody)\b/i, '"no caller", "any user" and the like'],
  [/\bbeside\b/i, '"with", "in addition to" or "next to"'],
  [/\b(told|tells)\b/i, '"reported", "notified" or "sent"'],
  [/\bsaid\b/i, '"reported" or "contained"'],
  [/\basks\b/i, '"requests" or "sends a request to"'],
  [/\bbegun\b/i, '"started"'],
  [/\bstands\b(?! for)/i, '"is active" or "is"'],
  [/\b(is|are|be) (to be )?had\b/i, '"is available"'],
  [/\b(is|are) (not )?to (be|go)\b/i, '"must" or "will be"'],
  [/\b(gives?|gave|given) (back|way)\b/i, '"release", "return" or "yield"'],
  [/\b(hears?|heard)\b/i, '"is notified" or "receives"'],
  [/\b(goes|go|went|going) on\b/i, '"continues"'],
  [/\bunder way\b/i, '"active", "running" or "in progress"'],
  [/\bpassed over\b/i, '"skipped"'],
  [/\banew\b/i, '"again"'],
  [/\bonce more\b/i, '"again"'],
  [/\bmade before\b/i, '"made earlier"'],
  [/\bat hand\b/i, '"present" or "available"'],
  [/\bwhole run\b/i, '"complete run"'],
  [/\bjust now\b/i, '"at the moment" or "temporarily"'],
  [/\bfor (ever|good)\b/i, '"permanently" or "without a limit"'],
  [/\bnot as (it|they)\b/i, 'name the difference'],
  [/\bturned away\b/i, '"rejected"'],
  [/\b(not taken|lets? in)\b/i, '"rejected", "accepts" or "admits"'],
  [/\b(is|are|was|were) away\b/i, '"is unavailable"'],
  [/(?<!\bthere )\b(is|are) no (?!limit|longer|more|larger)/i, '"is not a"'],
  [/\bnowhere\b/i, 'name the place'],
  [/\b(?:MOST|LONGEST|LARGEST|DEEPEST|LEAST)_[A-Z]/, '`MAX_…` or `MIN_…`'],
]
/** Text files in which all words are checked, except code. */
const DOCUMENTS = ['*.md']
/** Files of which all lines are checked: comments, texts and names. */
const WHOLE_FILES = ['helm/*.yaml', 'helm/*.tpl', 'helm/*.txt', 'deploy/*.yaml', 'deploy/*.sh', 'deploy/images/Dockerfile']
/** Code in which comments, test titles and texts are checked. */
const CODE = [
  'apps/*/src/*.ts',
  'apps/*/src/*.tsx',
  'apps/*/test/*.ts',
  'apps/*/migrations/*.sql',
  'libs/*.ts',
  'packages/*.ts',
  'libs/*.sql',
  'e2e/*.ts',
  'examples/*.mjs',
  'examples/*.js',
  'bench/*.ts',
  'deploy/*.ts',
  'test/*.ts',
  'tools/*.ts',
  'proto/vitascope/*.proto',
]
const OPENAPI = 'docs/openapi.json'
const MAX_LINE = 100
const MAX_SUBJECT = 72
/** The last commit before the rule for subjects. */
const BEFORE_SUBJECT_RULE = 'cc592f68f1834e321c835edbbd45321f7bcdfbe6'
/** Maximum number of commits whose subjects are checked, newest first. */
const MAX_SUBJECTS = 10

/** Returns a line for each word, line or commit subject that the rules for text reject. */
export function proseProblems(): string[] {
  return [
    ...files(CODE)
      .filter((file) => file !== 'tools/prose.ts')
      .flatMap(codeProblems),
    ...files(DOCUMENTS).flatMap(documentProblems),
    ...files(WHOLE_FILES).flatMap((file) => lines(file).flatMap((line, at) => wordProblems(`${file}:${at + 1}`, withoutCode(line)))),
    ...openApiTextProblems(),
    ...subjectProblems(),
  ]
}

/**
 * Checks comments, and the texts of programs or the titles of tests. A text is a string with a space in it, which excludes
 * most names.
 */
function codeProblems(file: string): string[] {
  const isTest = /\.test\.ts$|\/test\/|^test\/|^e2e\//.test(file)
  return lines(file).flatMap((line, at) => {
    const position = `${file}:${at + 1}`
    const comment = /^\s*(?:\/\*\*|\*|\/\/|--)(.*)$/.exec(line)?.[1] ?? / \/\/ (.*)$/.exec(line)?.[1]
    if (comment !== undefined) return wordProblems(position, withoutCode(comment))
    if (isTest) return wordProblems(position, /^\s*(?:test|describe|it)\((['"`].*['"`]),/.exec(line)?.[1] ?? '')
    const texts = [...line.matchAll(/'([^'\n]*)'|`([^`\n]*)`|"([^"\n]*)"/g)].map((text) => text[1] ?? text[2] ?? text[3] ?? '')
    return texts.filter((text) => text.includes(' ')).flatMap((text) => wordProblems(position, text.replace(/\$\{[^}]*\}/g, '')))
  })
}

function openApiTextProblems(): string[] {
  return lines(OPENAPI).flatMap((line, at) => {
    const text = /^\s*"(?:description|summary)": "(.*)"/.exec(line)?.[1]
    return text === undefined ? [] : wordProblems(`${OPENAPI}:${at + 1}`, withoutCode(text))
  })
}

function documentProblems(file: string): string[] {
  let isCode = false
  return lines(file).flatMap((line, at) => {
    if (line.startsWith('```')) isCode = !isCode
    if (isCode || line.startsWith('    ')) return []
    const position = `${file}:${at + 1}`
    const length = line.replace(/\]\([^)]*\)/g, ']()').length
    const isLong = length > MAX_LINE && !/^\s*(\||<!--)/.test(line)
    return [
      ...(isLong ? [`${position}: has ${length} characters without its links; at most ${MAX_LINE}`] : []),
      ...wordProblems(position, withoutCode(line)),
    ]
  })
}

function subjectProblems(): string[] {
  const commits = git(['log', '--no-merges', `-${MAX_SUBJECTS}`, '--format=%H %s'])
  const end = commits.findIndex((line) => line.startsWith(BEFORE_SUBJECT_RULE))
  const subjects = commits.slice(0, end < 0 ? MAX_SUBJECTS : end).map((line) => line.slice(line.indexOf(' ') + 1))
  return subjects
    .filter((subject) => subject.length > MAX_SUBJECT)
    .map((subject) => `commit "${subject}": has ${subject.length} characters; at most ${MAX_SUBJECT}`)
}

function wordProblems(position: string, text: string): string[] {
  return WORDS.flatMap(([word, instead]) => {
    const match = word.exec(text)
    return match ? [`${position}: "${match[0]}"; write ${instead}`] : []
  })
}

const withoutCode = (text: string) => text.replace(/`[^`]*`/g, '')

function files(patterns: readonly string[]): string[] {
  return git(['ls-files', ...patterns]).filter((file) => existsSync(join(root, file)))
}

const lines = (file: string) => readFileSync(join(root, file), 'utf8').split('\n')

function git(args: readonly string[]): string[] {
  return execFileSync('git', args, { cwd: root, encoding: 'utf8' }).split('\n').filter(Boolean)
}
