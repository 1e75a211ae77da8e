/** Description of a setting in the settings reference. `npm run generate` writes it to docs/reference/settings.md. */
export interface Description {
  /** Meaning, as Markdown for the cell of a table. Links are relative to docs/reference. */
  description: string
  /** Replaces the default in the reference, where it depends on the machine or on other settings. */
  defaultText?: string
}

/** A setting as a process declares it. */
export interface SettingDeclaration extends Description {
  name: string
  /** Form of the values: the kind of text, the allowed words, or the bounds of an integer. */
  values: 'text' | 'list' | 'HOST:PORT' | 'file' | 'secret' | 'URL' | readonly string[] | { min: number; max: number }
  /** Undefined for a required setting, null for an optional one without a default. */
  fallback: string | number | null | undefined
}

/** The settings that a process reads. */
export interface SettingsRecord {
  declarations: SettingDeclaration[]
  /** Names of all settings, also of those that another process declares. */
  names: Set<string>
}

let record: SettingsRecord | undefined

/** Returns the settings that `read` reads. `read` must not be asynchronous. An error of `read` is thrown. */
export function recordSettings(read: () => void): SettingsRecord {
  const newRecord: SettingsRecord = { declarations: [], names: new Set() }
  record = newRecord
  try {
    read()
  } finally {
    record = undefined
  }
  return newRecord
}

/** Adds a setting to the current record, if there is one. */
export function recordDeclaration(setting: SettingDeclaration): void {
  record?.declarations.push(setting)
}

/** Adds a name to the current record, if there is one. */
export function recordName(name: string): void {
  record?.names.add(name)
}
