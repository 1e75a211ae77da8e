/** Icons of cards, by the state that they stand for. */
export type CardIcon = 'encoding' | 'form' | 'failed' | 'missing' | 'expired' | 'locked' | 'place' | 'devices' | 'offline' | 'unsupported'

/** Paths of 24 × 24. */
const paths = {
  play: 'M8.2 5.2v13.6c0 .8.9 1.3 1.6.9l10.4-6.8c.6-.4.6-1.4 0-1.8L9.8 4.3c-.7-.4-1.6.1-1.6.9z',
  pause:
    'M7 4.5h2.6c.5 0 .9.4.9.9v13.2c0 .5-.4.9-.9.9H7c-.5 0-.9-.4-.9-.9V5.4c0-.5.4-.9.9-.9zm7.4 0H17c.5 0 .9.4.9.9v13.2c0 .5-.4.9-.9.9h-2.6c-.5 0-.9-.4-.9-.9V5.4c0-.5.4-.9.9-.9z',
  replay: 'M12 5V1.8L7.4 6.3 12 10.8V7.4a5.4 5.4 0 1 1-5.4 5.4H4.2A7.8 7.8 0 1 0 12 5z',
  settings:
    'M10.3 4.9L10.6 2.5L13.4 2.5L13.7 4.9L15.8 5.8L17.7 4.3L19.7 6.3L18.2 8.2L19.1 10.3L21.5 10.6L21.5 13.4L19.1 13.7L18.2 15.8L19.7 17.7L17.7 19.7L15.8 18.2L13.7 19.1L13.4 21.5L10.6 21.5L10.3 19.1L8.2 18.2L6.3 19.7L4.3 17.7L5.8 15.8L4.9 13.7L2.5 13.4L2.5 10.6L4.9 10.3L5.8 8.2L4.3 6.3L6.3 4.3L8.2 5.8zM12 8.7a3.3 3.3 0 1 0 0 6.6 3.3 3.3 0 0 0 0-6.6z',
  share: 'M12 2.6l4.9 4.9-1.5 1.5-2.3-2.3V15h-2.2V6.7L8.6 9 7.1 7.5zM4.8 12H7v6.4h10V12h2.2v8.6H4.8z',
  download: 'M10.9 3.6h2.2v8.3l2.3-2.3 1.5 1.5-4.9 4.9-4.9-4.9 1.5-1.5 2.3 2.3zM5 18.2h14v2.2H5z',
  previous: 'M6 5h2.4v14H6zM19.6 5.6v12.8c0 .5-.6.8-1 .5L9.8 12.5a.7.7 0 0 1 0-1l8.8-6.4c.4-.3 1 0 1 .5z',
  next: 'M15.6 5H18v14h-2.4zM4.4 5.6v12.8c0 .5.6.8 1 .5l8.8-6.4a.7.7 0 0 0 0-1L5.4 5.1c-.4-.3-1 0-1 .5z',
  list: 'M4 6h2v2H4zm4 0h12v2H8zm-4 5h2v2H4zm4 0h12v2H8zm-4 5h2v2H4zm4 0h12v2H8z',
  continue: 'M4 6h10v2H4zm0 5h10v2H4zm0 5h7v2H4zM15.5 11l6 3.9-6 3.9z',
  swap: 'M7 4 2.5 8.5 7 13v-3.4h9V7.4H7zm10 7v3.4H8v2.2h9V20l4.5-4.5z',
  slides: 'M3 4h18v12H3zm2 2v8h14V6zm3 13h8v2H8z',
  keyboard:
    'M3 6h18a1 1 0 0 1 1 1v10a1 1 0 0 1-1 1H3a1 1 0 0 1-1-1V7a1 1 0 0 1 1-1zm2 2.5v2h2v-2zm4 0v2h2v-2zm4 0v2h2v-2zm4 0v2h2v-2zM8 13.5v2h8v-2z',
  back: 'M14.8 5.4 8.2 12l6.6 6.6 1.4-1.4L11 12l5.2-5.2z',
  close: 'M6.4 5 5 6.4l5.6 5.6L5 17.6 6.4 19l5.6-5.6 5.6 5.6 1.4-1.4-5.6-5.6L19 6.4 17.6 5 12 10.6z',
} as const

const cardPaths: Readonly<Record<CardIcon, string>> = {
  encoding: 'M4 4h16v16H4zm2 2v2h2V6zm0 5v2h2v-2zm0 5v2h2v-2zM16 6v2h2V6zm0 5v2h2v-2zm0 5v2h2v-2zm-5.6-6.6v5.2l4.2-2.6z',
  form: 'M4 5h16a1 1 0 0 1 1 1v12a1 1 0 0 1-1 1H4a1 1 0 0 1-1-1V6a1 1 0 0 1 1-1zm1.2 2.400v1l6.8 4.3 6.8-4.300v-1zm0 3.600v5.800h13.600V11L12 15.200z',
  failed: 'M12 2.8 22.4 21H1.6zm-1.1 7.1v5.3h2.2V9.9zm0 6.8v2.1h2.2v-2.1z',
  missing: 'M10.5 3a7.5 7.5 0 0 1 5.9 12.1l4.8 4.8-1.6 1.6-4.8-4.8A7.5 7.5 0 1 1 10.5 3zm0 2.2a5.3 5.3 0 1 0 0 10.6 5.3 5.3 0 0 0 0-10.6z',
  expired:
    'M12 2.5a9.5 9.5 0 1 1 0 19 9.5 9.5 0 0 1 0-19zm0 2.2a7.3 7.3 0 1 0 0 14.6 7.3 7.3 0 0 0 0-14.6zm1.1 2.6v4.3l3 3-1.5 1.5-3.7-3.6V7.3z',
  locked:
    'M12 2.2a4.8 4.8 0 0 1 4.8 4.8v2.5h1.7c.5 0 1 .4 1 1v9.8c0 .5-.5 1-1 1h-13c-.5 0-1-.5-1-1v-9.8c0-.6.5-1 1-1h1.7V7A4.8 4.8 0 0 1 12 2.2zm0 2.2A2.6 2.6 0 0 0 9.4 7v2.5h5.2V7A2.6 2.6 0 0 0 12 4.4zm-1.1 8.9v4h2.2v-4z',
  place: 'M12 2.2a7 7 0 0 1 7 7c0 4.7-7 12.6-7 12.6S5 13.9 5 9.2a7 7 0 0 1 7-7zm0 4.5a2.5 2.5 0 1 0 0 5 2.5 2.5 0 0 0 0-5z',
  devices: 'M3 5h14v2H5v8h6v2H3zm11 4h7v11h-7zm2 2v7h3v-7z',
  offline:
    'M3.4 2 2 3.4l3 3A8 8 0 0 0 .8 9l1.5 1.6a9.4 9.4 0 0 1 4.4-2.5l2 2a7.2 7.2 0 0 0-3.7 2l1.5 1.6a5 5 0 0 1 4.4-1.4L20.6 22l1.4-1.4zM12 7.1l2.3 2.3c1.8.4 3.4 1.3 4.7 2.7L20.5 10.5A12.4 12.4 0 0 0 12 7.1zM12 17l2.5 2.5L12 22l-2.5-2.5z',
  unsupported:
    'M3 4h18v12h-7.9v2H16v2H8v-2h2.9v-2H3zm2.2 2.2v7.6h13.6V6.2zM9 8.5 10.2 7.3 12 9.1l1.8-1.8L15 8.5l-1.8 1.8 1.8 1.8-1.2 1.2-1.8-1.8-1.8 1.8L9 12.1l1.8-1.8z',
}

export type IconName = keyof typeof paths

/** Returns the markup of an icon. */
export function icon(name: IconName, attributes = ''): string {
  return `<svg ${attributes} viewBox="0 0 24 24" aria-hidden="true"><path d="${paths[name]}"/></svg>`
}

export function createIcon(name: IconName): SVGElement {
  const namespace = 'http://www.w3.org/2000/svg'
  const svg = document.createElementNS(namespace, 'svg')
  svg.setAttribute('viewBox', '0 0 24 24')
  svg.setAttribute('aria-hidden', 'true')
  const shape = document.createElementNS(namespace, 'path')
  shape.setAttribute('d', paths[name])
  svg.append(shape)
  return svg
}

/** Returns the path of the icon of a card. */
export function cardIconPath(name: CardIcon): string {
  return cardPaths[name]
}
