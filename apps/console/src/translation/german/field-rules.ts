import type { FieldRule } from '../field-message.ts'

/**
 * German translations of the platform's error messages about form fields. `$1` and `$2` are the groups of
 * the pattern.
 */
export const fieldRules: readonly FieldRule[] = [
  [/^is required$/, 'muss angegeben werden'],
  [/^must not be (?:empty|blank)$/, 'darf nicht leer sein'],
  [/^must not be repeated$/, 'darf nicht mehrmals vorkommen'],
  [/^must not be negative$/, 'darf nicht negativ sein'],
  [/^must be one line$/, 'darf nur eine Zeile haben'],
  [/^must have no white space; join words by hyphens$/, 'darf kein Leerzeichen enthalten; verbinden Sie Wörter mit Bindestrichen'],
  [/^must be an email address$/, 'muss eine E-Mail-Adresse sein'],
  [/^must be in the future$/, 'muss in der Zukunft liegen'],
  [/^must be a time$/, 'muss eine Zeit sein'],
  [/^must be an IPv4 or IPv6 address$/, 'muss eine IPv4- oder IPv6-Adresse sein'],
  [
    /^must be (?:an IPv4 or IPv6 address|an address), or a network such as (.*)$/,
    'muss eine IPv4- oder IPv6-Adresse oder ein Netz wie $1 sein',
  ],
  [/^must be a URL that starts with http:\/\/ or https:\/\/$/, 'muss eine Adresse sein, die mit http:// oder https:// beginnt'],
  [/^must be a language code such as (.+) or (.+)$/, 'muss ein Sprachkürzel wie $1 oder $2 sein'],
  [/^must be one of:? (.+)$/, 'muss einer dieser Werte sein: $1'],
  [/^must have at most ([\d,]+) characters$/, 'darf höchstens $1 Zeichen haben'],
  [/^must have at least ([\d,]+) characters$/, 'muss mindestens $1 Zeichen haben'],
  [/^must have ([\d,]+) to ([\d,]+) characters$/, 'muss $1 bis $2 Zeichen haben'],
  [/^must have at most ([\d,]+) (?:items|entries)$/, 'darf höchstens $1 Einträge haben'],
  [/^must be from (-?[\d,]+) to ([\d,]+)$/, 'muss zwischen $1 und $2 liegen'],
  [/^contains no captions in the format (.+)$/, 'enthält keine Untertitel im Format $1'],
]
