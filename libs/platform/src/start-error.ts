/** Thrown when a start is not possible. The message is for the user. */
export class StartError extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'StartError'
  }
}
