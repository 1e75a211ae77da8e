/** Ids of the examples in the API document, so that all examples are about the same records. */
const IDS: Readonly<Record<string, string>> = {
  organisation: '1',
  user: '7',
  video: '42',
  media: '43',
  job: '44',
  caption: '45',
  playlist: '46',
  folder: '47',
  theme: '48',
  profile: '49',
  overlay: '50',
  presentation: '51',
  webhook: '52',
  delivery: '53',
  clip: '54',
  collaboration: '55',
  contact: '56',
  submission: '57',
  key: '58',
}

/** Returns the example id of the first noun of `IDS` in the description, or that of a video if it has none. */
export function idExample(description: string): string {
  const found = Object.keys(IDS)
    .map((noun) => ({ noun, position: description.search(new RegExp(`\\b${noun}`)) }))
    .filter(({ position }) => position !== -1)
    .toSorted((a, b) => a.position - b.position)
  return IDS[found[0]?.noun ?? ''] ?? '42'
}
