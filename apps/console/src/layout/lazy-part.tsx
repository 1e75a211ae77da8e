import { Alert, Button, Group, Stack, Text } from '@mantine/core'
import { type ComponentType, type ReactNode, useCallback, useEffect, useState } from 'react'
import { useTranslation } from 'react-i18next'

const RETRY_INTERVAL_MS = 2_000

interface Options {
  /** Shown until the code has arrived. */
  Loading?: ComponentType
}

/** A component with code of its own. `preload` loads the code before the component is shown. */
export type LazyPart<Props> = ((props: Props) => ReactNode) & { preload: () => Promise<void> }

/**
 * Returns a page, or a part of one, whose code is loaded when it is shown for the first time. If the code cannot be
 * loaded, for example because the platform restarts, a message is shown in its place and the request is repeated.
 * Everything else on the page stays, with the texts that the user has typed.
 */
export function lazyPart<Props extends object>(load: () => Promise<ComponentType<Props>>, { Loading }: Options = {}): LazyPart<Props> {
  let loaded: ComponentType<Props> | undefined
  const loadOnce = async () => {
    loaded ??= await load()
    return loaded
  }
  function Part(props: Props) {
    const [Loaded, setLoaded] = useState<ComponentType<Props> | undefined>(() => loaded)
    const [hasFailed, setFailed] = useState(false)
    const start = useCallback(() => {
      loadOnce().then(
        (part) => setLoaded(() => part),
        () => setFailed(true),
      )
    }, [])
    useEffect(start, [start])
    useEffect(() => {
      if (!hasFailed || Loaded) return
      const timer = setInterval(start, RETRY_INTERVAL_MS)
      return () => clearInterval(timer)
    }, [hasFailed, Loaded, start])
    if (Loaded) return <Loaded {...props} />
    if (hasFailed) return <LoadFailed retry={start} />
    return Loading ? <Loading /> : null
  }
  // The component itself shows that the code could not be loaded.
  const preload = () =>
    loadOnce().then(
      () => undefined,
      () => undefined,
    )
  return Object.assign(Part, { preload })
}

/** After an upgrade of the platform, an open page requests files that are gone. Only a reload helps then. */
function LoadFailed({ retry }: { retry: () => void }) {
  const { t } = useTranslation()
  return (
    <Alert color="red" title={t('common.failed')} role="alert" my="md">
      <Stack align="flex-start" gap="sm">
        <Text size="sm">{t('common.partFailed')}</Text>
        <Group>
          <Button size="xs" variant="default" onClick={retry}>
            {t('common.retry')}
          </Button>
          <Button size="xs" variant="default" onClick={() => location.reload()}>
            {t('common.reload')}
          </Button>
        </Group>
      </Stack>
    </Alert>
  )
}
