import { Alert } from '@mantine/core'
import { VitascopeError } from '@vitascope/sdk'
import { toMessage } from '../api/client.ts'

interface Props {
  error: unknown
  /** Names of fields that show their messages themselves. */
  fields?: readonly string[]
}

/** Shows an error above a form. Shows nothing without an error, or if all its messages are shown by fields. */
export function ErrorAlert({ error, fields = [] }: Props) {
  const isShown = error instanceof VitascopeError && error.fields.length > 0 && error.fields.every(({ field }) => fields.includes(field))
  return error && !isShown ? (
    <Alert color="red" role="alert">
      {toMessage(error)}
    </Alert>
  ) : null
}
