import { readFileSync } from 'node:fs'

/** The current keys of a file. */
export interface KeyFile<Keys> {
  current(): Keys
  /** Stops polling the file. */
  close(): void
}

/** Returns keys that never change. */
export function fixedKeys<Keys>(keys: Keys): KeyFile<Keys> {
  return { current: () => keys, close: () => {} }
}

/** Receives the changes of a key file. */
export interface KeyFileListener {
  /** Called when the keys of the file are in use after a change or a problem. */
  onChange?(): void
  /** Receives the reason if the content of the file cannot be used. */
  onProblem(error: unknown): void
}

export interface KeyFileOptions<Keys> extends KeyFileListener {
  /** Throws an error that contains no secret if the text is invalid. */
  parse(text: string): Keys
  /** Throws if the new keys must not replace the current ones. By default, all may. */
  check?(next: Keys, current: Keys): void
  pollMs?: number
}

const POLL_MS = 5_000

/**
 * Reads a key file, and polls it every 5 s. A change that cannot be read, parsed or accepted is reported to `onProblem`
 * once; the previous keys stay in use. Throws if the first read fails.
 */
export function openKeyFile<Keys>(
  file: string,
  { parse, check, onChange, onProblem, pollMs = POLL_MS }: KeyFileOptions<Keys>,
): KeyFile<Keys> {
  let used = readFileSync(file, 'utf8')
  let keys = parse(used)
  // Undefined while the file cannot be read.
  let seen: string | undefined = used
  let problem: string | undefined
  const poll = () => {
    let next: string | undefined
    try {
      next = readFileSync(file, 'utf8')
      if (next === seen) return
      if (next !== used) {
        const parsed = parse(next)
        check?.(parsed, keys)
        keys = parsed
        used = next
      }
      problem = undefined
      onChange?.()
    } catch (error) {
      const { message } = error as Error
      // A file that still cannot be read is not reported again.
      if (next === undefined && message === problem) return
      problem = message
      onProblem(error)
    } finally {
      seen = next
    }
  }
  const timer = setInterval(poll, pollMs)
  timer.unref()
  return { current: () => keys, close: () => clearInterval(timer) }
}
