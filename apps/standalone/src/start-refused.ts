/** Why a start cannot be: a sentence for the person who typed it. */
export class StartRefused extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'StartRefused'
  }
}
