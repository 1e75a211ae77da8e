interface Schema {
  [name: string]: unknown
  enum?: unknown[]
}
export interface Operation {
  operationId: string
  parameters?: { name: string; in: string }[]
  requestBody?: { content: Record<string, unknown> }
  responses: Record<string, { headers?: unknown; content?: Record<string, unknown> }>
}
/** An OpenAPI document. */
export interface Contract {
  paths: Record<string, Record<string, Operation>>
  components: { schemas: Record<string, Schema>; responses?: unknown }
  webhooks: Record<string, unknown>
}

/** Name of the component for values that later versions of the API may add to an enum. */
export const FUTURE_VALUE = 'FutureValue'
export const JSON_TYPE = 'application/json'

/**
 * Removes the parts of the contract that a client does not use, and opens the enums of responses:
 * forms of payloads other than JSON, headers, responses of errors, and webhooks.
 */
export function simplifyContract(contract: Contract): void {
  const { paths, components } = contract
  for (const operation of Object.values(paths).flatMap((operations) => Object.values(operations))) {
    const { parameters = [], requestBody, responses } = operation
    // `data` is another form of the payload. The client sends `Idempotency-Key` and the headers of tus itself.
    operation.parameters = parameters.filter(({ name, in: place }) => place !== 'header' && !(name === 'data' && requestBody))
    if (requestBody && JSON_TYPE in requestBody.content) {
      const raw = Object.keys(requestBody.content).filter((type) => /^(image|video|text)\//.test(type))
      requestBody.content = Object.fromEntries([JSON_TYPE, ...raw].map((type) => [type, requestBody.content[type]]))
    }
    operation.responses = Object.fromEntries(
      Object.entries(responses).flatMap(([status, { headers: _, ...response }]) => {
        return status.startsWith('2') ? [[status, openEnums(response) as Operation['responses'][string]]] : []
      }),
    )
  }
  // Events are the schemas `…Event`.
  contract.webhooks = {}
  delete components.responses
  for (const [name, schema] of Object.entries(components.schemas)) {
    if (!/(Payload|Event)$/.test(name)) components.schemas[name] = openEnums(schema) as Schema
  }
  components.schemas[FUTURE_VALUE] = { type: 'string', description: 'A value that a later version of the platform may add.' }
}

/** Returns a copy of a schema whose texts with several values also accept unknown values. Flags (`"0"` and `"1"`) stay as they are. */
function openEnums(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(openEnums)
  if (typeof value !== 'object' || value === null) return value
  const { enum: values, type, description, ...rest } = value as Schema
  const isOpen = Array.isArray(values) && values.length > 1 && values.every((each) => typeof each === 'string') && values[0] !== '0'
  if (!isOpen) return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, openEnums(part)]))
  return { ...rest, description, anyOf: [{ type, enum: values }, { $ref: `#/components/schemas/${FUTURE_VALUE}` }] }
}
