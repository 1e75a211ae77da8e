import { Alert } from '@mantine/core'
import { toMessage } from '../api/client.ts'

/** Shows an error above a form. Shows nothing without an error. */
export function ErrorAlert({ error }: { error: unknown }) {
  return error ? (
    <Alert color="red" role="alert">
      {toMessage(error)}
    </Alert>
  ) : null
}
