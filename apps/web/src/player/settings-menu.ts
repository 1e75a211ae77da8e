import { createIcon } from '../dom/icons.ts'
import { requireElement } from '../dom/require-element.ts'
import type { TextKey } from '../language/english.ts'
import { text } from '../language/text.ts'
import { toCueRule } from './cue-style.ts'
import type { PlayerActions } from './player-actions.ts'
import type { PlayerShell } from './player-shell.ts'
import { captionSizes, captionStyles, readPreferences, writePreferences } from './viewer-preferences.ts'

/** Whether the parts of the menu that depend on the video have choices. */
export interface MenuChoices {
  quality: boolean
  audio: boolean
  captions: boolean
}

/**
 * Fills the settings menu, which opens at its first level each time. Returns the function that
 * shows the parts that have choices.
 */
export function buildSettingsMenu({ frame }: PlayerShell, actions: PlayerActions, signal: AbortSignal): (choices: MenuChoices) => void {
  const menu = requireElement(frame, '.settings', HTMLElement)
  const items = [...createTrackMenus(), ...createCaptionMenus(frame, signal), createShortcutItem(actions)]
  const closeSubmenus = ({ target }: Event) => {
    if (target !== menu || !menu.hidden) return
    for (const submenu of menu.querySelectorAll<HTMLElement>('[slot=submenu]')) submenu.hidden = true
  }
  menu.addEventListener('toggle', closeSubmenus, { signal })
  signal.addEventListener('abort', () => menu.replaceChildren(), { once: true })
  return (choices) => {
    const hasChoices = new Map<string, boolean>(Object.entries(choices))
    // media-chrome moves the focus to hidden items as well, so they are removed.
    const shown = items.filter(({ dataset }) => hasChoices.get(dataset['needs'] ?? dataset['menu'] ?? '') ?? true)
    const isUnchanged = shown.length === menu.children.length && shown.every((item, index) => item === menu.children[index])
    if (!isUnchanged) menu.replaceChildren(...shown)
  }
}

/** Menus whose choices media-chrome reads from the state of the player. */
const trackMenus = [
  { name: 'quality', label: 'quality', element: 'media-rendition-menu' },
  { name: 'speed', label: 'speed', element: 'media-playback-rate-menu' },
  { name: 'audio', label: 'audioTrack', element: 'media-audio-track-menu' },
  { name: 'captions', label: 'captions', element: 'media-captions-menu' },
] as const
const RATES = '0.25 0.5 0.75 1 1.25 1.5 1.75 2'

function createTrackMenus(): HTMLElement[] {
  return trackMenus.map(({ name, label, element }) => {
    const submenu = document.createElement(element)
    if (name === 'speed') submenu.setAttribute('rates', RATES)
    const item = createMenuItem(label, submenu)
    item.dataset['menu'] = name
    return item
  })
}

/** Creates an item that opens a submenu. */
function createMenuItem(label: TextKey, submenu: HTMLElement): HTMLElement {
  const item = document.createElement('media-settings-menu-item')
  const name = document.createElement('span')
  name.textContent = text(label)
  submenu.slot = 'submenu'
  submenu.hidden = true
  // The header of media-chrome is a button, which a menu must not contain.
  const title = document.createElement('button')
  title.type = 'button'
  title.slot = 'header'
  title.setAttribute('part', 'back button')
  title.setAttribute('role', 'menuitem')
  title.append(createIcon('back'), text(label))
  submenu.prepend(title)
  item.append(name, submenu)
  return item
}

function createCaptionMenus(frame: HTMLElement, signal: AbortSignal): HTMLElement[] {
  const sheet = new CSSStyleSheet()
  const root = frame.getRootNode()
  if (root instanceof ShadowRoot) {
    root.adoptedStyleSheets.push(sheet)
    const removeSheet = () => {
      root.adoptedStyleSheets = root.adoptedStyleSheets.filter((other) => other !== sheet)
    }
    signal.addEventListener('abort', removeSheet, { once: true })
  }
  let { captionSize, captionStyle } = readPreferences()
  const apply = () => {
    writePreferences({ captionSize, captionStyle })
    sheet.replaceSync(toCueRule(captionSize, captionStyle))
  }
  sheet.replaceSync(toCueRule(captionSize, captionStyle))
  return [
    createMenu('captionSize', captionSizes, captionSize, (size) => {
      captionSize = size
      apply()
    }),
    createMenu('captionStyle', captionStyles, captionStyle, (style) => {
      captionStyle = style
      apply()
    }),
  ]
}

function createMenu<Value extends TextKey>(
  label: TextKey,
  values: readonly Value[],
  chosen: Value,
  choose: (value: Value) => void,
): HTMLElement {
  const submenu = document.createElement('media-chrome-menu')
  for (const value of values) {
    const choice = document.createElement('media-chrome-menu-item')
    choice.setAttribute('type', 'radio')
    choice.setAttribute('value', value)
    if (value === chosen) choice.setAttribute('aria-checked', 'true')
    choice.textContent = text(value)
    submenu.append(choice)
  }
  submenu.addEventListener('change', () => {
    const value = values.find((candidate) => 'value' in submenu && candidate === submenu.value)
    if (value) choose(value)
  })
  const item = createMenuItem(label, submenu)
  item.dataset['needs'] = 'captions'
  return item
}

function createShortcutItem(actions: PlayerActions): HTMLElement {
  const item = document.createElement('media-chrome-menu-item')
  item.className = 'shortcuts'
  item.textContent = text('shortcuts')
  item.addEventListener('click', () => actions.showShortcuts())
  return item
}
