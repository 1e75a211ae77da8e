import { readEmbed } from './embed-options.ts'
import { playerFrame } from './player-frame.ts'

// It runs in pages of other people: no names of its own there, no HTML from texts, and nothing but what this one script element says.
const script = document.currentScript
if (script instanceof HTMLScriptElement) place(script)

/** In the element that the script names, once the page has it; else where the script stands. */
function place(script: HTMLScriptElement): void {
  const embed = readEmbed(script.src, script.dataset)
  const frame = playerFrame(document, embed)
  const named = () => (embed.elementId === undefined ? null : document.getElementById(embed.elementId))
  // A page that begins with the code has it in its head, where nothing shows.
  const inHead = script.closest('head') !== null
  const put = () => {
    const element = named()
    if (element) element.replaceChildren(frame)
    else if (inHead) document.body.prepend(frame)
    else script.after(frame)
  }
  const isReady = embed.elementId === undefined ? !inHead : named() !== null
  if (isReady || document.readyState !== 'loading') put()
  else document.addEventListener('DOMContentLoaded', put, { once: true })
}
