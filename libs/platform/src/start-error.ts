/** Thrown if the platform cannot start. The message is for its operator, and says what to do. */
export class StartError extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'StartError'
  }
}
