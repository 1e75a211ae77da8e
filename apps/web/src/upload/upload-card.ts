import { requireElement } from '../dom/require-element.ts'
import { announce } from './announce.ts'
import { showCaptions } from './caption-rows.ts'
import { showDetails } from './details-form.ts'
import { fromTemplate } from './from-template.ts'
import { showPicture } from './picture-row.ts'
import { drawPreview } from './preview-picture.ts'
import { formatAnnouncement, formatUpload } from './status-text.ts'
import { formatBytes } from './transfer-text.ts'
import { isWaiting, type UploadItem } from './upload-item.ts'
import { createPlayer, type EncodingText, followEncoding, formatEncoding } from './uploaded-video.ts'

export interface CardActions {
  /** Returns whether files start now. */
  isOpen: () => boolean
  key: () => string
  /** Called after each change of the state. */
  onChange: () => void
  onRemove: () => void
}

/** Returns a card that shows a file, its progress and the fields of its video. */
export function createCard(item: UploadItem, actions: CardActions): { element: HTMLElement; show: () => void } {
  const card = fromTemplate('upload-card')
  const find = (selector: string) => requireElement(card, selector, HTMLElement)
  const bar = requireElement(card, 'progress', HTMLProgressElement)
  const pauseButton = requireElement(card, '.pause', HTMLButtonElement)
  const retryButton = requireElement(card, '.retry', HTMLButtonElement)
  const openLink = requireElement(card, '.open', HTMLAnchorElement)
  const title = () => item.details.wanted.title.trim() || item.file.name
  const removed = new AbortController()
  let announcement = ''
  let encoding: EncodingText | undefined

  /** Each button is named after the video, because several cards have the same buttons. */
  const showTitle = () => {
    find('.card-title').textContent = title()
    bar.setAttribute('aria-label', `Progress of ${title()}`)
    for (const button of card.querySelectorAll('.buttons > *')) button.setAttribute('aria-label', `${button.textContent}: ${title()}`)
  }

  const show = () => {
    const { state } = item
    card.dataset['state'] = encoding?.isFailed ? 'unplayable' : isWaiting(state) ? 'interrupted' : state.kind
    const isUploaded = state.kind === 'uploaded'
    const sentPercent = item.file.size === 0 ? 0 : (100 * item.sentBytes) / item.file.size
    const percent = isUploaded ? encoding?.percent : sentPercent
    find('.transfer').hidden = state.kind === 'failed' || percent === undefined
    bar.value = percent ?? 100
    find('.percent').textContent = `${Math.floor(percent ?? 100)} %`
    find('.status').textContent = (isUploaded ? encoding?.text : undefined) ?? formatUpload(item, actions.isOpen())
    const fault = requireElement(card, '.card-main > .fault', HTMLElement)
    fault.hidden = state.kind !== 'failed'
    fault.textContent = state.kind === 'failed' ? state.text : ''
    pauseButton.hidden = state.kind !== 'uploading' && state.kind !== 'paused'
    pauseButton.textContent = state.kind === 'paused' ? 'Continue' : 'Pause'
    retryButton.hidden = state.kind !== 'failed' || !item.isUsable
    find('.remove').textContent = state.kind === 'failed' || isUploaded ? 'Remove from the list' : 'Cancel'
    find('.remove').hidden = state.kind === 'creating'
    const isLinked = isUploaded && item.details.stored.visibility !== 'private'
    openLink.hidden = !isLinked
    find('.copy').hidden = !isLinked || navigator.clipboard === undefined
    if (isUploaded) openLink.href = `/player/${state.videoId}`
    showTitle()
    showPlayer()
    announceState()
  }

  const announceState = () => {
    const text = formatAnnouncement(item, encoding?.text)
    if (text !== '' && text !== announcement) announce(title(), text)
    announcement = text
  }

  let player: HTMLElement | undefined
  /** Shows the player if guests may see the video, because the player sends no API key. */
  const showPlayer = () => {
    const { state } = item
    const isShown = state.kind === 'uploaded' && encoding?.isPlayable === true && item.details.stored.visibility !== 'private'
    if (isShown !== (player !== undefined)) {
      player = isShown ? createPlayer(state.videoId) : undefined
      find('.player').replaceChildren(...(player ? [player] : []))
    }
    find('.player').hidden = !isShown
    find('.picture').hidden = isShown
  }

  const follow = async (videoId: string) => {
    const onState = (state: Parameters<typeof formatEncoding>[0]) => {
      encoding = formatEncoding(state)
      show()
    }
    await followEncoding({ videoId, key: actions.key() }, onState, removed.signal).catch(() => {})
  }

  let isFollowed = false
  item.onChange = () => {
    show()
    if (item.state.kind === 'uploaded' && !isFollowed) {
      isFollowed = true
      void follow(item.state.videoId)
    }
    actions.onChange()
  }
  const resume = () => {
    item.enqueue()
    // While the file waits for its turn, it can only be cancelled.
    const nextButton = pauseButton.hidden ? find('.remove') : pauseButton
    nextButton.focus()
  }
  pauseButton.addEventListener('click', () => (item.state.kind === 'paused' ? resume() : item.pause()))
  retryButton.addEventListener('click', resume)
  find('.copy').addEventListener('click', () => void copyLink(openLink.href, find('.copy')))
  find('.remove').addEventListener('click', () => {
    const isLost = item.state.kind !== 'uploaded' && item.sentBytes > 0
    if (isLost && !window.confirm(`Cancel “${title()}”? The part that is uploaded already is deleted.`)) return
    item.cancel()
    removed.abort()
    card.remove()
    actions.onRemove()
  })
  find('.file-name').textContent = `${item.file.name}, ${formatBytes(item.file.size)}`
  showDetails(card, item, show)
  showPicture(find('.poster'), item)
  showCaptions(find('.captions'), item)
  show()
  void drawPreview(item.file).then((picture) => picture && find('.picture').replaceChildren(picture))
  return { element: card, show }
}

async function copyLink(link: string, button: HTMLElement): Promise<void> {
  const text = await navigator.clipboard.writeText(link).then(
    () => 'Link copied',
    () => 'The link could not be copied',
  )
  button.textContent = text
  announce('Link', text)
}
