import { expect, test } from '@jest/globals'
import { chartDocuments, readSettings } from './chart-documents.ts'

const values = `# What the file is about.

# How many.
# @ {"minimum": 1}
pods: 2
# Where | to.
place:
  # The first of it.
  name: ""
  # @ {"additionalProperties": {"type": "string"}}
  labels: {}
`
const readme = 'before\n<!-- settings: generated from values.yaml by npm run generate -->\nold\n<!-- end of settings -->\nafter\n'

test('a setting is documented by the comment above it', () => {
  expect(readSettings(values)).toMatchObject([
    { name: 'pods', comment: 'How many.', note: { minimum: 1 }, value: 2 },
    {
      name: 'place',
      comment: 'Where | to.',
      settings: [
        { name: 'place.name', comment: 'The first of it.' },
        { name: 'place.labels', value: {} },
      ],
    },
  ])
})

test('the schema contains exactly the settings of values.yaml', () => {
  const { properties, additionalProperties } = JSON.parse(chartDocuments(values, readme)['values.schema.json'] ?? '')
  expect(additionalProperties).toBe(false)
  expect(properties.pods).toEqual({ description: 'How many.', type: 'integer', minimum: 1 })
  expect(properties.place).toMatchObject({ type: 'object', additionalProperties: false })
  expect(properties.place.properties.labels).toEqual({ type: 'object', additionalProperties: { type: 'string' } })
})

test('the table of the README is regenerated, and its other text is kept', () => {
  const generated = chartDocuments(values, readme)['README.md'] ?? ''
  expect(generated).toContain('| `pods` | `2` | How many. |\n| **`place`** | | Where \\| to. |\n| `place.name` |  | The first of it. |')
  expect(generated).toMatch(/^before\n.*after\n$/s)
  expect(generated).not.toContain('old')
  expect(chartDocuments(values, generated)['README.md']).toBe(generated)
})

test('a schema note that is not JSON is rejected with the name of its setting', () => {
  expect(() => readSettings('# @ {minimum}\npods: 2\n')).toThrow(/comment of pods/)
})
