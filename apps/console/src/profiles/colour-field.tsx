import { TextInput } from '@mantine/core'
import { useTranslation } from 'react-i18next'

interface Props {
  label: string
  /** A colour such as `#1f2933`, or an empty text for the colour of the player. */
  value: string
  error?: string | undefined
  onChange: (value: string) => void
}

const COLOUR = /^#[0-9a-f]{6}$/i
const MAX_LENGTH = 7

/** Input for a colour, as a text or by the picker of the browser. */
export function ColourField({ label, value, error, onChange }: Props) {
  const { t } = useTranslation()
  const isColour = COLOUR.test(value)
  return (
    <TextInput
      label={label}
      placeholder={t('profiles.colourOfPlayer')}
      maxLength={MAX_LENGTH}
      value={value}
      error={error ?? (value === '' || isColour ? undefined : t('profiles.colourHelp'))}
      onChange={(event) => onChange(event.currentTarget.value)}
      leftSection={
        <input
          type="color"
          className="colour-picker"
          data-empty={value === '' || undefined}
          aria-label={`${t('profiles.pick')}: ${label}`}
          value={isColour ? value : '#000000'}
          onChange={(event) => onChange(event.currentTarget.value)}
        />
      }
    />
  )
}
