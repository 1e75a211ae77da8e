import { Group, Stack, Text, Title } from '@mantine/core'
import { type ReactNode, useEffect } from 'react'

/** Heading of a page. It sets the title of the browser's tab as well. */
export function PageHeader({ title, note, children }: { title: string; note?: ReactNode; children?: ReactNode }) {
  useEffect(() => {
    document.title = `${title} · Vitascope`
  }, [title])
  return (
    <Group justify="space-between" align="flex-end" mb="lg" gap="sm">
      <Stack gap={2} miw={0}>
        <Title order={1} size="h2" className="page-title">
          {title}
        </Title>
        {note !== undefined && (
          <Text c="dimmed" size="sm" component="div">
            {note}
          </Text>
        )}
      </Stack>
      {children !== undefined && <Group gap="sm">{children}</Group>}
    </Group>
  )
}
