import { PasswordInput, type PasswordInputProps } from '@mantine/core'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'

/** Input for a password, with a button that shows it. */
export function PasswordField(props: PasswordInputProps) {
  const { t } = useTranslation()
  const [isVisible, setVisible] = useState(false)
  const label = t(isVisible ? 'common.hideCharacters' : 'common.showCharacters')
  return (
    <PasswordInput
      {...props}
      visible={isVisible}
      onVisibilityChange={setVisible}
      visibilityToggleButtonProps={{ 'aria-label': label, title: label, tabIndex: 0 }}
    />
  )
}
