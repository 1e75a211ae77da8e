import { Alert, Anchor, Box, Grid, Group, Tabs } from '@mantine/core'
import { IconArrowLeft, IconPointFilled } from '@tabler/icons-react'
import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router'
import type { Schemas } from '@vitascope/sdk'
import { useCallback, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { isMissing } from '../api/client.ts'
import { NotFoundMessage } from '../layout/error-page.tsx'
import { lazyPart } from '../layout/lazy-part.tsx'
import { PageHeader } from '../layout/page-header.tsx'
import { LoadingState, QueryState } from '../layout/query-state.tsx'
import { UnsavedScope } from '../layout/unsaved-changes.tsx'
import { EncodingBar, StatusBadge, VisibilityBadge } from '../library/video-badges.tsx'
import { useOrganisationOf } from '../organisation/use-organisation-of.ts'
import { PlayerProvider } from '../player/player-control.tsx'
import { PlayerFrame } from '../player/player-frame.tsx'
import { DetailsTab } from './details-tab.tsx'
import { LastJob } from './last-job.tsx'
import { PosterControls } from './poster-controls.tsx'
import { type LoadedVideo, useVideo } from './use-video.ts'
import { VIDEO_TABS, type VideoTab } from './video-search.ts'

/** A tab is loaded when it is opened. */
const LAZY_TABS = {
  chapters: lazyPart(() => import('./chapters-tab.tsx').then(({ ChaptersTab }) => ChaptersTab), { Loading: LoadingState }),
  captions: lazyPart(() => import('./captions-tab.tsx').then(({ CaptionsTab }) => CaptionsTab), { Loading: LoadingState }),
  review: lazyPart(() => import('../review/review-tab.tsx').then(({ ReviewTab }) => ReviewTab), { Loading: LoadingState }),
  presentation: lazyPart(() => import('../presentation/presentation-tab.tsx').then(({ PresentationTab }) => PresentationTab), {
    Loading: LoadingState,
  }),
  sharing: lazyPart(() => import('./sharing-tab.tsx').then(({ SharingTab }) => SharingTab), { Loading: LoadingState }),
  protection: lazyPart(() => import('./protection-tab.tsx').then(({ ProtectionTab }) => ProtectionTab), { Loading: LoadingState }),
  overlays: lazyPart(() => import('../overlays/overlays-tab.tsx').then(({ OverlaysTab }) => OverlaysTab), { Loading: LoadingState }),
  files: lazyPart(() => import('./files-tab.tsx').then(({ FilesTab }) => FilesTab), { Loading: LoadingState }),
  analytics: lazyPart(() => import('./video-analytics-tab.tsx').then(({ VideoAnalyticsTab }) => VideoAnalyticsTab), {
    Loading: LoadingState,
  }),
}

/** The section is loaded after the form above it. */
const MetadataSection = lazyPart(() => import('../metadata/metadata-section.tsx').then(({ MetadataSection }) => MetadataSection))

export function VideoPage() {
  const { t } = useTranslation()
  const { videoId } = useParams({ from: '/shell/videos/$videoId' })
  const video = useVideo(videoId)
  const isSelected = useOrganisationOf(video.data?.video)
  if (isMissing(video.error) && !video.data) return <NotFoundMessage />
  if (!isSelected) return <LoadingState />
  return (
    <>
      <Anchor size="sm" renderRoot={(props) => <Link to="/videos" {...props} />}>
        <Group gap={4} component="span" mb="xs">
          <IconArrowLeft size={16} aria-hidden="true" />
          {t('video.back')}
        </Group>
      </Anchor>
      {isMissing(video.error) && (
        <Alert color="red" role="alert" mb="md">
          {t('video.deleted')}
        </Alert>
      )}
      <QueryState query={video}>{(loaded) => <VideoView key={loaded.video.video_id} loaded={loaded} />}</QueryState>
    </>
  )
}

function VideoView({ loaded }: { loaded: LoadedVideo }) {
  const { t } = useTranslation()
  const { video } = loaded
  const { tab: requested, t: start } = useSearch({ from: '/shell/videos/$videoId' })
  // Other names may be in an address that a person has typed.
  const tab = VIDEO_TABS.find((name) => name === requested) ?? 'details'
  const navigate = useNavigate({ from: '/videos/$videoId' })
  const select = (value: string | null) => {
    const selected = VIDEO_TABS.find((name) => name === value)
    void navigate({ search: selected && selected !== 'details' ? { tab: selected } : {}, replace: true })
  }
  /** Tabs with unsaved changes. They stay in the page when another tab is selected. */
  const [unsavedTabs, setUnsavedTabs] = useState<readonly VideoTab[]>([])
  const markUnsaved = useCallback(
    (name: VideoTab, isUnsaved: boolean) =>
      setUnsavedTabs((before) => [...before.filter((other) => other !== name), ...(isUnsaved ? [name] : [])]),
    [],
  )
  return (
    <PlayerProvider>
      <PageHeader
        title={video.video_title || t('library.untitled')}
        note={
          <Group gap={6} component="span">
            <StatusBadge video={video} showReady />
            <VisibilityBadge video={video} />
          </Group>
        }
      />
      <Grid gap={{ base: 'lg', lg: 'xl' }}>
        <Grid.Col span={{ base: 12, lg: 6 }}>
          <Box className="player-column">
            {/* The player shows the title, and reads it and its settings when it is loaded. */}
            <PlayerFrame key={`${video.setting_id} ${video.theme_id} ${video.video_title}`} video={video} start={start} />
            <EncodingBar video={video} />
            <LastJob video={video} />
            <PosterControls video={video} />
          </Box>
        </Grid.Col>
        <Grid.Col span={{ base: 12, lg: 6 }}>
          <Tabs value={tab} onChange={select} keepMounted keepMountedMode="display-none">
            <Tabs.List mb="md">
              {VIDEO_TABS.map((name) => (
                <Tabs.Tab
                  key={name}
                  value={name}
                  px="xs"
                  {...(unsavedTabs.includes(name) && {
                    rightSection: <IconPointFilled size={12} role="img" aria-label={t('video.unsavedTab')} />,
                  })}
                >
                  {t(`video.${name}`)}
                </Tabs.Tab>
              ))}
            </Tabs.List>
            {VIDEO_TABS.filter((name) => name === 'details' || name === tab || unsavedTabs.includes(name)).map((name) => (
              <Tabs.Panel key={name} value={name}>
                <TabContent name={name} loaded={loaded} markUnsaved={markUnsaved} />
              </Tabs.Panel>
            ))}
          </Tabs>
        </Grid.Col>
      </Grid>
    </PlayerProvider>
  )
}

interface TabProps {
  name: VideoTab
  loaded: LoadedVideo
  markUnsaved: (name: VideoTab, isUnsaved: boolean) => void
}

function TabContent({ name, loaded, markUnsaved }: TabProps) {
  const onChange = useCallback((isUnsaved: boolean) => markUnsaved(name, isUnsaved), [name, markUnsaved])
  return (
    <UnsavedScope onChange={onChange}>
      {name === 'details' ? (
        <>
          <DetailsTab loaded={loaded} />
          <MetadataSection video={loaded.video} />
        </>
      ) : (
        <LazyTab name={name} video={loaded.video} />
      )}
    </UnsavedScope>
  )
}

function LazyTab({ name, video }: { name: keyof typeof LAZY_TABS; video: Schemas['Video'] }) {
  const Tab = LAZY_TABS[name]
  return <Tab video={video} />
}
