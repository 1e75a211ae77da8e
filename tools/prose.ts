import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from './lib/run-command.ts'

/** Words that `docs/glossary.md` and plain technical English have better ones for, each with what to write. */
const WORDS: readonly [RegExp, string][] = [
  [/\bwhoever\b/i, 'name the caller'],
  [/\b(nobody|anybody|somebody|everybody)\b/i, '"no caller", "any user" and the like'],
  [/\bbeside\b/i, '"with", "in addition to" or "next to"'],
  [/\b(told|tells)\b/i, '"reported", "notified" or "sent"'],
  [/\bbegun\b/i, '"started"'],
  [/\bstands\b(?! for)/i, '"is active" or "is"'],
  [/\b(is|are|be) (to be )?had\b/i, '"is available"'],
  [/\b(gives?|gave|given) back\b/i, '"release" or "return"'],
  [/\bhears? of\b/i, '"is notified of"'],
  [/\b(?:MOST|LONGEST|LARGEST|DEEPEST|LEAST)_[A-Z]/, '`MAX_…` or `MIN_…`'],
]

/** Text files in which all words are checked, except code. */
const DOCUMENTS = ['README.md', 'ARCHITECTURE.md', 'CONTRIBUTING.md', 'docs/glossary.md']
const MAX_LINE = 100
const MAX_SUBJECT = 72
/** The last commit before the rule for subjects. */
const BEFORE_SUBJECT_RULE = 'cc592f68f1834e321c835edbbd45321f7bcdfbe6'
/** Maximum number of commits whose subjects are checked, newest first. */
const MAX_SUBJECTS = 10

/** Returns a line for each word, line or commit subject that the rules for text reject. Only comments and test titles of code are checked. */
export function proseProblems(): string[] {
  return [...codeFiles().flatMap(commentProblems), ...DOCUMENTS.flatMap(documentProblems), ...subjectProblems()]
}

function codeFiles(): string[] {
  const folders = [
    'apps/*/src/*.ts',
    'apps/*/test/*.ts',
    'libs/*.ts',
    'e2e/*.ts',
    'deploy/*.ts',
    'test/*.ts',
    'tools/*.ts',
    'proto/vitascope/*.proto',
  ]
  const present = git(['ls-files', ...folders]).filter((file) => existsSync(join(root, file)))
  return present.filter((file) => file !== 'tools/prose.ts')
}

function commentProblems(file: string): string[] {
  return lines(file).flatMap((line, at) => {
    const comment = /^\s*(?:\/\*\*|\*|\/\/)(.*)$/.exec(line)?.[1] ?? / \/\/ (.*)$/.exec(line)?.[1]
    const text = comment ?? /^\s*(?:test|describe|it)\((['"`].*['"`]),/.exec(line)?.[1]
    return text === undefined ? [] : wordProblems(`${file}:${at + 1}`, comment === undefined ? text : withoutCode(text))
  })
}

function documentProblems(file: string): string[] {
  let isCode = false
  return lines(file).flatMap((line, at) => {
    if (line.startsWith('```')) isCode = !isCode
    if (isCode || line.startsWith('    ')) return []
    const place = `${file}:${at + 1}`
    const isLong = line.length > MAX_LINE && !line.startsWith('|')
    return [...(isLong ? [`${place}: has ${line.length} characters; at most ${MAX_LINE}`] : []), ...wordProblems(place, withoutCode(line))]
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

function wordProblems(place: string, text: string): string[] {
  return WORDS.flatMap(([word, instead]) => {
    const found = word.exec(text)
    return found ? [`${place}: "${found[0]}"; write ${instead}`] : []
  })
}

const withoutCode = (text: string) => text.replace(/`[^`]*`/g, '')

const lines = (file: string) => readFileSync(join(root, file), 'utf8').split('\n')

function git(args: readonly string[]): string[] {
  return execFileSync('git', args, { cwd: root, encoding: 'utf8' }).split('\n').filter(Boolean)
}
