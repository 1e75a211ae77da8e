/** Thrown when a backup or a restore is not possible. The message is for the user. */
export class BackupError extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'BackupError'
  }
}
