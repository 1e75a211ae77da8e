/** A way to protect a platform: what is stored elsewhere before a disaster, and how it is restored. */
export interface Recipe {
  name: string
  /** Settings of a platform that is protected in this way. */
  settings: Readonly<Record<string, string>>
  /** Protects the platform on `dataDir`, while it runs. */
  backUp(dataDir: string): Promise<void>
  /** Kills the servers that a disaster destroys, at once. */
  kill(): Promise<void>
  /** Deletes everything that a disaster destroys, except for `dataDir`. All processes have ended. */
  destroy(disasterTime: Date): Promise<void>
  /** Restores the platform into `dataDir`. Returns the settings of the restored platform. */
  restore(dataDir: string): Promise<Readonly<Record<string, string>>>
  close(): Promise<void>
}
