import type { UploadItem } from './upload-item.ts'

/**
 * With two uploads at a time, the network is in use also while one of them waits for the server.
 */
const MAX_ACTIVE = 2

/** Starts waiting files in the order of the list, two at a time. */
export class UploadQueue {
  readonly items = new Set<Pick<UploadItem, 'state' | 'isActive' | 'start'>>()
  #isOpen = false
  readonly #onKeyRejected: () => void

  constructor(onKeyRejected: () => void) {
    this.#onKeyRejected = onKeyRejected
  }

  /** Files start only while a key is known. */
  get isOpen(): boolean {
    return this.#isOpen
  }

  open(): void {
    this.#isOpen = true
    this.fill()
  }

  close(): void {
    this.#isOpen = false
  }

  /** Starts waiting files until `MAX_ACTIVE` files are active. */
  fill(): void {
    for (const item of this.items) {
      const active = [...this.items].filter(({ isActive }) => isActive).length
      if (!this.#isOpen || active >= MAX_ACTIVE) return
      if (item.state.kind === 'waiting') void this.#start(item)
    }
  }

  async #start(item: Pick<UploadItem, 'start'>): Promise<void> {
    const isKeyAccepted = await item.start()
    if (!isKeyAccepted && this.#isOpen) {
      this.#isOpen = false
      this.#onKeyRejected()
    }
    this.fill()
  }
}
