// Jest's Node environment, with the time limits of libs/testing for tests and hooks.
import { TestEnvironment } from 'jest-environment-node'
import { extendTimeout } from '../libs/testing/src/timeouts.ts'

export default class PatientEnvironment extends TestEnvironment {
  /** Tests and hooks whose limit is already set, because a hook starts once per test. */
  #limited = new WeakSet()

  handleTestEvent({ name, test, hook }, { testTimeout }) {
    const started = name === 'test_start' ? test : name === 'hook_start' ? hook : undefined
    if (!started || this.#limited.has(started)) return
    this.#limited.add(started)
    started.timeout = extendTimeout(started.timeout ?? testTimeout)
  }
}
