/** Why a backup or a restore cannot be: a sentence for the person who asked for it. */
export class BackupRefused extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'BackupRefused'
  }
}
