import { ActionIcon, Button, Group, Popover, Stack, Text, TextInput } from '@mantine/core'
import { IconBookmark, IconTrash } from '@tabler/icons-react'
import { type FormEvent, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { useSession } from '../api/session.tsx'
import { notifyError } from '../layout/notify.ts'
import type { LibrarySearch } from './library-search.ts'
import { deleteView, MAX_SAVED_VIEWS, MAX_VIEW_NAME_LENGTH, readSavedViews, saveView } from './saved-views.ts'

/** Stores the present filters under a name, and opens stored ones. */
export function SavedViewsMenu({ search, open }: { search: LibrarySearch; open: (search: LibrarySearch) => void }) {
  const { t } = useTranslation()
  const { user, organisationId } = useSession()
  const [isOpen, setOpen] = useState(false)
  const [views, setViews] = useState(() => readSavedViews(user.user_id, organisationId))
  const [name, setName] = useState('')
  const trimmed = name.trim()
  const isFull = views.length >= MAX_SAVED_VIEWS && !views.some((view) => view.name === trimmed)
  const save = (event: FormEvent) => {
    event.preventDefault()
    try {
      setViews(saveView(user.user_id, organisationId, { name: trimmed, search }))
      setName('')
    } catch (error) {
      notifyError(error)
    }
  }
  const select = (stored: LibrarySearch) => {
    setOpen(false)
    open(stored)
  }
  return (
    <Popover opened={isOpen} onChange={setOpen} width={300} position="bottom-end" trapFocus returnFocus shadow="md">
      <Popover.Target>
        <Button
          variant="default"
          leftSection={<IconBookmark size={18} aria-hidden="true" />}
          onClick={() => setOpen(!isOpen)}
          aria-expanded={isOpen}
        >
          {t('library.savedViews')}
        </Button>
      </Popover.Target>
      <Popover.Dropdown aria-label={t('library.savedViews')}>
        <Stack gap="sm">
          {views.length === 0 && (
            <Text size="sm" c="dimmed">
              {t('library.noSavedViews')}
            </Text>
          )}
          <ul className="plain-list saved-views">
            {views.map((view) => (
              <Group component="li" key={view.name} justify="space-between" wrap="nowrap" gap="xs">
                <Button variant="subtle" size="sm" justify="flex-start" fullWidth onClick={() => select(view.search)}>
                  <Text span truncate size="sm" fw={550}>
                    {view.name}
                  </Text>
                </Button>
                <ActionIcon
                  variant="subtle"
                  color="gray"
                  aria-label={t('library.deleteView', { name: view.name })}
                  onClick={() => setViews(deleteView(user.user_id, organisationId, view.name))}
                >
                  <IconTrash size={16} />
                </ActionIcon>
              </Group>
            ))}
          </ul>
          <form onSubmit={save}>
            <Group gap="xs" align="flex-end" wrap="nowrap">
              <TextInput
                label={t('library.viewName')}
                flex={1}
                miw={0}
                value={name}
                maxLength={MAX_VIEW_NAME_LENGTH}
                error={isFull ? t('library.tooManyViews', { count: MAX_SAVED_VIEWS }) : undefined}
                onChange={(event) => setName(event.currentTarget.value)}
              />
              <Button type="submit" flex="none" disabled={trimmed === '' || isFull}>
                {t('common.save')}
              </Button>
            </Group>
          </form>
        </Stack>
      </Popover.Dropdown>
    </Popover>
  )
}
