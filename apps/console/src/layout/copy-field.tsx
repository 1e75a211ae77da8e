import { ActionIcon, CopyButton, Textarea, TextInput, Tooltip } from '@mantine/core'
import { IconCheck, IconCopy } from '@tabler/icons-react'
import { useTranslation } from 'react-i18next'

/** A text that can be copied but not changed. */
export function CopyField({ label, value, description, rows = 1 }: { label: string; value: string; description?: string; rows?: number }) {
  const { t } = useTranslation()
  const button = (
    <CopyButton value={value}>
      {({ copied, copy }) => (
        <Tooltip label={copied ? t('common.copied') : t('common.copy')}>
          <ActionIcon
            variant="subtle"
            color={copied ? 'teal' : 'gray'}
            aria-label={`${copied ? t('common.copied') : t('common.copy')}: ${label}`}
            onClick={copy}
          >
            {copied ? <IconCheck size={18} /> : <IconCopy size={18} />}
          </ActionIcon>
        </Tooltip>
      )}
    </CopyButton>
  )
  const shared = { label, description, value, readOnly: true, rightSection: button, classNames: { input: 'code-text' } }
  return rows === 1 ? <TextInput {...shared} /> : <Textarea {...shared} rows={rows} />
}
