import { readEmbed } from './embed-options.ts'
import { playerFrame } from './player-frame.ts'

// The script runs in third-party pages: it defines no globals, inserts no HTML from text, and reads
// only its own script element.
const script = document.currentScript
if (script instanceof HTMLScriptElement) insertPlayer(script)

/**
 * Inserts the player into the named element as soon as the page has it. Without a name, it inserts
 * the player after the script element.
 */
function insertPlayer(script: HTMLScriptElement): void {
  const embed = readEmbed(script.src, script.dataset)
  const frame = playerFrame(document, embed)
  const findElement = () => (embed.elementId === undefined ? null : document.getElementById(embed.elementId))
  // If the page starts with the embed code, the script is in `<head>`, where nothing is rendered.
  const inHead = script.closest('head') !== null
  const insert = () => {
    const element = findElement()
    if (element) element.replaceChildren(frame)
    else if (inHead) document.body.prepend(frame)
    else script.after(frame)
  }
  const isReady = embed.elementId === undefined ? !inHead : findElement() !== null
  if (isReady || document.readyState !== 'loading') insert()
  else document.addEventListener('DOMContentLoaded', insert, { once: true })
}
