import { firstCharacters } from '@vitascope/request'
import { createMessage, type Message, toOneLine } from './message.ts'

const MAX_SUBJECT_CHARACTERS = 120

/** Returns the mail to the uploader when a video is ready. */
export function createSuccessMessage({ title, name, playerUrl }: { title: string; name: string; playerUrl: string }): Message {
  const titleLine = toOneLine(title)
  const shortTitle = firstCharacters(titleLine, MAX_SUBJECT_CHARACTERS)
  return createMessage({
    subject: `Your video is ready: ${shortTitle === titleLine ? titleLine : `${shortTitle}…`}`,
    heading: 'Your video is ready',
    name,
    sentence: { before: 'your video ', bold: titleLine, after: ' has been encoded and can be watched' },
    button: 'Watch the video',
    url: playerUrl,
  })
}
