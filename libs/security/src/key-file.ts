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
  /** Called when changed keys are in use. */
  onChange?(): void
  /** Receives the reason if a change is rejected. */
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
  let text = readFileSync(file, 'utf8')
  let keys = parse(text)
  let problem: string | undefined
  const poll = () => {
    try {
      const next = readFileSync(file, 'utf8')
      problem = undefined
      if (next === text) return
      // A problem is reported once for each content of the file.
      text = next
      const parsed = parse(next)
      check?.(parsed, keys)
      keys = parsed
      onChange?.()
    } catch (error) {
      const { message } = error as Error
      // A file that still cannot be read is not reported again.
      if (message === problem) return
      problem = message
      onProblem(error)
    }
  }
  const timer = setInterval(poll, pollMs)
  timer.unref()
  return { current: () => keys, close: () => clearInterval(timer) }
}
