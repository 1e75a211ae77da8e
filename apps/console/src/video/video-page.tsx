import { Anchor, Box, Grid, Group, Tabs } from '@mantine/core'
import { IconArrowLeft } from '@tabler/icons-react'
import { Link, lazyRouteComponent, useNavigate, useParams, useSearch } from '@tanstack/react-router'
import type { Schemas } from '@vitascope/sdk'
import { Suspense } from 'react'
import { useTranslation } from 'react-i18next'
import { PageHeader } from '../layout/page-header.tsx'
import { LoadingState, QueryState } from '../layout/query-state.tsx'
import { EncodingBar, StatusBadge, VisibilityBadge } from '../library/video-badges.tsx'
import { DetailsTab } from './details-tab.tsx'
import { PlayerFrame } from './player-frame.tsx'
import { PosterControls } from './poster-controls.tsx'
import { type LoadedVideo, useVideo } from './use-video.ts'
import { VIDEO_TABS } from './video-search.ts'

/** A tab is loaded when it is opened. */
const LAZY_TABS = {
  chapters: lazyRouteComponent(() => import('./chapters-tab.tsx'), 'ChaptersTab'),
  captions: lazyRouteComponent(() => import('./captions-tab.tsx'), 'CaptionsTab'),
  sharing: lazyRouteComponent(() => import('./sharing-tab.tsx'), 'SharingTab'),
  protection: lazyRouteComponent(() => import('./protection-tab.tsx'), 'ProtectionTab'),
  files: lazyRouteComponent(() => import('./files-tab.tsx'), 'FilesTab'),
  analytics: lazyRouteComponent(() => import('./video-analytics-tab.tsx'), 'VideoAnalyticsTab'),
}

export function VideoPage() {
  const { t } = useTranslation()
  const { videoId } = useParams({ from: '/shell/videos/$videoId' })
  const video = useVideo(videoId)
  return (
    <>
      <Anchor size="sm" renderRoot={(props) => <Link to="/videos" {...props} />}>
        <Group gap={4} component="span" mb="xs">
          <IconArrowLeft size={16} aria-hidden="true" />
          {t('video.back')}
        </Group>
      </Anchor>
      <QueryState query={video}>{(loaded) => <VideoView key={loaded.video.video_id} loaded={loaded} />}</QueryState>
    </>
  )
}

function VideoView({ loaded }: { loaded: LoadedVideo }) {
  const { t } = useTranslation()
  const { video } = loaded
  const { tab = 'details' } = useSearch({ from: '/shell/videos/$videoId' })
  const navigate = useNavigate({ from: '/videos/$videoId' })
  const select = (value: string | null) => {
    const selected = VIDEO_TABS.find((name) => name === value)
    void navigate({ search: selected && selected !== 'details' ? { tab: selected } : {}, replace: true })
  }
  return (
    <>
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
            <PlayerFrame video={video} />
            <EncodingBar video={video} />
            <PosterControls video={video} />
          </Box>
        </Grid.Col>
        <Grid.Col span={{ base: 12, lg: 6 }}>
          <Tabs value={tab} onChange={select} keepMounted>
            <Tabs.List mb="md">
              {VIDEO_TABS.map((name) => (
                <Tabs.Tab key={name} value={name} px="xs">
                  {t(`video.${name}`)}
                </Tabs.Tab>
              ))}
            </Tabs.List>
            <Tabs.Panel value="details">
              <DetailsTab loaded={loaded} />
            </Tabs.Panel>
            {tab !== 'details' && (
              <Tabs.Panel value={tab}>
                <Suspense fallback={<LoadingState />}>
                  <SelectedTab tab={tab} video={video} />
                </Suspense>
              </Tabs.Panel>
            )}
          </Tabs>
        </Grid.Col>
      </Grid>
    </>
  )
}

function SelectedTab({ tab, video }: { tab: keyof typeof LAZY_TABS; video: Schemas['Video'] }) {
  const Tab = LAZY_TABS[tab]
  return <Tab video={video} />
}
