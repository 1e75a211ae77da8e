import { Button, Checkbox, Group, Pagination, SegmentedControl, Select, SimpleGrid, Stack, Table, Text, TextInput } from '@mantine/core'
import { useDebouncedCallback } from '@mantine/hooks'
import { IconLayoutGrid, IconList, IconSearch, IconUpload, IconVideo } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import type { Schemas } from '@vitascope/sdk'
import { useEffect, useRef, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { isMissing } from '../api/client.ts'
import { MAX_OPTIONS, MAX_RECORDS } from '../api/max-records.ts'
import { useSession } from '../api/session.tsx'
import { formatDuration, formatNumber, formatTime } from '../layout/format.ts'
import { lazyPart } from '../layout/lazy-part.tsx'
import { PageHeader } from '../layout/page-header.tsx'
import { EmptyState, QueryState } from '../layout/query-state.tsx'
import { valueLabel } from '../translation/value-label.ts'
import { useUploads } from '../upload/upload-provider.tsx'
import { PAGE_SIZE } from './library-range.ts'
import { type LibrarySearch, MAX_SEARCH_LENGTH, ORDERS, STATUSES } from './library-search.ts'
import { useFolders } from './use-folders.ts'
import { useVideos } from './use-videos.ts'
import { EncodingBar, StatusBadge, VisibilityBadge } from './video-badges.tsx'
import { VideoThumbnail } from './video-thumbnail.tsx'

/** The menu is loaded after the page. */
const SavedViewsMenu = lazyPart(() => import('./saved-views-menu.tsx').then(({ SavedViewsMenu }) => SavedViewsMenu))
/** The bar is loaded when a video is selected. */
const BulkBar = lazyPart(() => import('./bulk-bar.tsx').then(({ BulkBar }) => BulkBar))
/** The bar is loaded when a folder is open. */
const FolderBar = lazyPart(() => import('./folder-bar.tsx').then(({ FolderBar }) => FolderBar))

const SEARCH_DELAY_MS = 300

export function LibraryPage() {
  const { t } = useTranslation()
  const search = useSearch({ from: '/shell/videos' })
  const navigate = useNavigate({ from: '/videos' })
  const videos = useVideos(search)
  const { openDialog } = useUploads()
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set())
  const change = (changes: { [K in keyof LibrarySearch]?: LibrarySearch[K] | undefined }) => {
    setSelected(new Set())
    void navigate({ search: (before) => withoutUndefined({ ...before, page: undefined, ...changes }) })
  }
  const open = (stored: LibrarySearch) => {
    setSelected(new Set())
    void navigate({ search: stored })
  }
  const toggle = (id: string) =>
    setSelected((before) => new Set(before.has(id) ? [...before].filter((other) => other !== id) : [...before, id]))
  const total = videos.data?.total
  const describeCount = (count: number) =>
    videos.data?.isCapped ? t('library.countCapped', { formatted: formatNumber(count) }) : t('library.count', { count })
  // Others may have been deleted since, or belong to another organisation.
  const chosen = (videos.data?.videos ?? []).filter(({ video_id }) => selected.has(video_id))
  return (
    <>
      <PageHeader title={t('library.title')} note={total === undefined ? undefined : describeCount(total)}>
        <Button leftSection={<IconUpload size={18} aria-hidden="true" />} onClick={openDialog}>
          {t('upload.button')}
        </Button>
      </PageHeader>
      <Filters search={search} change={change} open={open} />
      {search.folder !== undefined && <FolderBar folderId={search.folder} leave={() => change({ folder: undefined })} />}
      {chosen.length > 0 && <BulkBar videos={chosen} folder={search.folder} select={setSelected} />}
      {isMissing(videos.error) && search.folder !== undefined ? (
        <EmptyState icon={<IconVideo size={28} />} title={t('library.noFolder')}>
          <Button variant="default" onClick={() => change({ folder: undefined })}>
            {t('library.clear')}
          </Button>
        </EmptyState>
      ) : (
        <QueryState query={videos}>
          {({ videos: list, total: count, isTooFar = false, isCapped = false }) => (
            <Stack gap="lg">
              {list.length > 0 && search.layout === 'table' && (
                <VideoTable videos={list} selected={selected} toggle={toggle} setSelected={setSelected} />
              )}
              {list.length > 0 && search.layout !== 'table' && (
                <SimpleGrid cols={{ base: 1, xs: 2, md: 3, lg: 4, xl: 5 }} spacing="lg" component="ul" className="plain-list">
                  {list.map((video) => (
                    <VideoCard key={video.video_id} video={video} isSelected={selected.has(video.video_id)} toggle={toggle} />
                  ))}
                </SimpleGrid>
              )}
              {list.length === 0 && count > 0 && <NoPage isTooFar={isTooFar} openFirst={() => change({})} />}
              {list.length === 0 && count === 0 && (
                <NoVideos
                  isFiltered={isFiltered(search)}
                  clear={() => change({ q: undefined, status: undefined, tag: undefined, folder: undefined })}
                />
              )}
              {count > PAGE_SIZE && (
                <Group justify="center">
                  <Pagination
                    total={Math.ceil(count / PAGE_SIZE)}
                    value={search.page ?? 1}
                    onChange={(page) => change({ page: page === 1 ? undefined : page })}
                    getControlProps={(control) => ({ 'aria-label': t(`pages.${control}`) })}
                    getItemProps={(page) => ({ 'aria-label': t('pages.page', { page }) })}
                  />
                </Group>
              )}
              {isCapped && (
                <Text size="sm" c="dimmed" ta="center">
                  {t(search.q === undefined ? 'library.capped' : 'library.cappedSearch', { max: formatNumber(count) })}
                </Text>
              )}
            </Stack>
          )}
        </QueryState>
      )}
    </>
  )
}

/** Shown instead of a page in the middle of a very long list, or after its end. */
function NoPage({ isTooFar, openFirst }: { isTooFar: boolean; openFirst: () => void }) {
  const { t } = useTranslation()
  return (
    <EmptyState
      icon={<IconVideo size={28} />}
      title={t(isTooFar ? 'library.tooFar' : 'library.noPage')}
      {...(isTooFar && { text: t('library.tooFarText') })}
    >
      <Button variant="default" onClick={openFirst}>
        {t('pages.first')}
      </Button>
    </EmptyState>
  )
}

function Filters({
  search,
  change,
  open,
}: {
  search: LibrarySearch
  /** Replaces all filters. */
  open: (search: LibrarySearch) => void
  change: (changes: { [K in keyof LibrarySearch]?: LibrarySearch[K] | undefined }) => void
}) {
  const { t } = useTranslation()
  const { api, organisationId } = useSession()
  const [text, setText] = useState(search.q ?? '')
  /** The last search that was typed. A later text stays while the page shows its results. */
  const typed = useRef(search.q)
  const changeSoon = useDebouncedCallback((input: string) => {
    typed.current = input.trim() || undefined
    change({ q: typed.current })
  }, SEARCH_DELAY_MS)
  useEffect(() => {
    if (search.q === typed.current) return
    typed.current = search.q
    setText(search.q ?? '')
  }, [search.q])
  const tags = useQuery({
    queryKey: ['tags', organisationId],
    queryFn: ({ signal }) => api.list('listTags', { signal }).toArray(MAX_RECORDS),
  })
  const folders = useFolders().data ?? []
  return (
    <Group mb="lg" gap="sm" role="search">
      <TextInput
        aria-label={t('library.search')}
        placeholder={t('library.search')}
        leftSection={<IconSearch size={18} aria-hidden="true" />}
        type="search"
        className="library-search"
        maxLength={MAX_SEARCH_LENGTH}
        value={text}
        onChange={(event) => {
          setText(event.currentTarget.value)
          changeSoon(event.currentTarget.value)
        }}
      />
      <Select
        aria-label={t('library.filterStatus')}
        placeholder={t('library.filterStatus')}
        data={STATUSES.map((value) => ({ value, label: t(`status.${value}`) }))}
        value={search.status ?? null}
        onChange={(value) => change({ status: STATUSES.find((status) => status === value) })}
        clearable
        w={140}
      />
      <Select
        aria-label={t('library.filterTag')}
        placeholder={t('library.filterTag')}
        data={(tags.data ?? []).map(({ tag, count }) => ({ value: tag, label: `${tag} (${count})` }))}
        value={search.tag ?? null}
        onChange={(value) => change({ tag: value ?? undefined })}
        searchable
        clearable
        limit={MAX_OPTIONS}
        w={160}
      />
      {(folders.length > 0 || search.folder !== undefined) && (
        <Select
          aria-label={t('library.filterFolder')}
          placeholder={t('library.filterFolder')}
          data={folders.map(({ id, name }) => ({ value: id, label: name }))}
          value={search.folder ?? null}
          onChange={(value) => change({ folder: value ?? undefined })}
          searchable
          clearable
          limit={MAX_OPTIONS}
          w={160}
        />
      )}
      <Select
        aria-label={t('library.sort')}
        data={ORDERS.map((value) => ({ value, label: t(`library.${value}`) }))}
        value={search.order ?? 'newest'}
        onChange={(value) => change({ order: value === 'newest' ? undefined : ORDERS.find((order) => order === value) })}
        disabled={search.q !== undefined}
        allowDeselect={false}
        w={175}
      />
      <SegmentedControl
        aria-label={t('library.view')}
        data={[
          { value: 'grid', label: <IconLayoutGrid size={18} role="img" aria-label={t('library.grid')} /> },
          { value: 'table', label: <IconList size={18} role="img" aria-label={t('library.table')} /> },
        ]}
        value={search.layout ?? 'grid'}
        onChange={(value) => change({ layout: value === 'table' ? 'table' : undefined, page: search.page })}
      />
      <SavedViewsMenu key={organisationId} search={search} open={open} />
    </Group>
  )
}

interface Row {
  video: Schemas['Video']
  isSelected: boolean
  toggle: (id: string) => void
}

function VideoCard({ video, isSelected, toggle }: Row) {
  const { t } = useTranslation()
  const title = video.video_title || t('library.untitled')
  return (
    <li className="video-card" data-selected={isSelected || undefined}>
      <Link to="/videos/$videoId" params={{ videoId: video.video_id }} className="video-card-link">
        <VideoThumbnail video={video} />
        <EncodingBar video={video} />
        <span className="video-card-title">{title}</span>
      </Link>
      <Group gap={6} px={2} mt={2}>
        <Text size="xs" c="dimmed">
          {formatTime(video.created_at)}
        </Text>
        <StatusBadge video={video} />
        <VisibilityBadge video={video} />
      </Group>
      <Checkbox
        className="video-card-check"
        aria-label={t('library.select', { title })}
        checked={isSelected}
        onChange={() => toggle(video.video_id)}
      />
    </li>
  )
}

function VideoTable({
  videos,
  selected,
  toggle,
  setSelected,
}: {
  videos: readonly Schemas['Video'][]
  selected: ReadonlySet<string>
  toggle: (id: string) => void
  setSelected: (ids: ReadonlySet<string>) => void
}) {
  const { t } = useTranslation()
  const areAllSelected = videos.every(({ video_id }) => selected.has(video_id))
  return (
    <Table.ScrollContainer minWidth={780}>
      <Table highlightOnHover verticalSpacing="xs">
        <Table.Thead>
          <Table.Tr>
            <Table.Th w={40}>
              <Checkbox
                aria-label={t('library.selectAll')}
                checked={areAllSelected}
                indeterminate={!areAllSelected && selected.size > 0}
                onChange={() => setSelected(new Set(areAllSelected ? [] : videos.map(({ video_id }) => video_id)))}
              />
            </Table.Th>
            <Table.Th>{t('library.title_')}</Table.Th>
            <Table.Th>{t('common.status')}</Table.Th>
            <Table.Th>{t('library.visibility')}</Table.Th>
            <Table.Th>{t('library.duration')}</Table.Th>
            <Table.Th>{t('library.date')}</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {videos.map((video) => {
            const title = video.video_title || t('library.untitled')
            return (
              <Table.Tr key={video.video_id}>
                <Table.Td>
                  <Checkbox
                    aria-label={t('library.select', { title })}
                    checked={selected.has(video.video_id)}
                    onChange={() => toggle(video.video_id)}
                  />
                </Table.Td>
                <Table.Td>
                  <Link to="/videos/$videoId" params={{ videoId: video.video_id }} className="table-title">
                    <span className="table-thumbnail">
                      <VideoThumbnail video={{ ...video, duration: '' }} />
                    </span>
                    {title}
                  </Link>
                </Table.Td>
                <Table.Td>
                  <StatusBadge video={video} showReady />
                </Table.Td>
                <Table.Td>{valueLabel('visibility', video.visibility)}</Table.Td>
                <Table.Td>{formatDuration(video.duration)}</Table.Td>
                <Table.Td className="no-wrap">{formatTime(video.created_at)}</Table.Td>
              </Table.Tr>
            )
          })}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  )
}

function NoVideos({ isFiltered: filtered, clear }: { isFiltered: boolean; clear: () => void }) {
  const { t } = useTranslation()
  const { openDialog } = useUploads()
  if (!filtered) {
    return (
      <EmptyState icon={<IconVideo size={30} />} title={t('library.empty')} text={t('library.emptyText')}>
        <Button mt="sm" onClick={openDialog}>
          {t('upload.button')}
        </Button>
      </EmptyState>
    )
  }
  return (
    <EmptyState icon={<IconSearch size={30} />} title={t('library.noMatch')}>
      <Button mt="sm" variant="default" onClick={clear}>
        {t('library.clear')}
      </Button>
    </EmptyState>
  )
}

function isFiltered({ q, status, tag, folder, page }: LibrarySearch): boolean {
  return [q, status, tag, folder, page].some((value) => value !== undefined)
}

function withoutUndefined(search: { [K in keyof LibrarySearch]?: LibrarySearch[K] | undefined }): LibrarySearch {
  return Object.fromEntries(Object.entries(search).filter(([, value]) => value !== undefined)) as LibrarySearch
}
