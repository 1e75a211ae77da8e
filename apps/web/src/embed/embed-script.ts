import { readEmbed } from './embed-options.ts'
import { showFacades } from './facade.ts'
import { createPlayerFrame } from './player-frame.ts'

// The script runs in third-party pages: it defines no globals, inserts no HTML from text, and reads
// only its own script element and the façades.
const script = document.currentScript
/** Property of a document whose façades a script shows. */
const STARTED = Symbol.for('vitascope.facades')
if (script instanceof HTMLScriptElement) {
  if (script.dataset['id'] !== undefined) insertPlayer(script)
  // A page may load the script once for each façade.
  else if (!Object.hasOwn(document, STARTED)) {
    Object.defineProperty(document, STARTED, { value: true })
    showFacades(document, script.src)
  }
}

/**
 * Inserts the player into the element with the requested id as soon as the page has it. Without an
 * id, it inserts the player after the script element.
 */
function insertPlayer(script: HTMLScriptElement): void {
  const embed = readEmbed(script.src, script.dataset)
  const frame = createPlayerFrame(document, embed)
  const findElement = () => (embed.elementId === undefined ? null : document.getElementById(embed.elementId))
  // If the page starts with the embed code, the script is in `<head>`, where nothing is rendered.
  const isInHead = script.closest('head') !== null
  const insert = () => {
    const element = findElement()
    if (element) element.replaceChildren(frame)
    else if (isInHead) document.body.prepend(frame)
    else script.after(frame)
  }
  const isReady = embed.elementId === undefined ? !isInHead : findElement() !== null
  if (isReady || document.readyState !== 'loading') insert()
  else document.addEventListener('DOMContentLoaded', insert, { once: true })
}
