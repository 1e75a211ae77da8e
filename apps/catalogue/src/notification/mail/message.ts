/** Name and address to which a mail is sent. */
export interface Recipient {
  email: string
  /** Empty if the name is unknown. */
  name: string
}

/** Subject and body of a mail, as text and as HTML. */
export interface Message {
  subject: string
  text: string
  html: string
}

/** Plain texts of a message with one link. */
export interface MessageContent {
  subject: string
  heading: string
  /** Name of the recipient. Empty if it is unknown. */
  name: string
  /** The sentence in front of the link, without its end. `bold` is in quotes in the text. */
  sentence: { before: string; bold: string; after: string }
  button: string
  url: string
  /** A sentence after the link. */
  note?: string
}

/** Returns the message. Texts may be input of users, so HTML is escaped. */
export function createMessage({ subject, heading, name, sentence, button, url, note }: MessageContent): Message {
  const { before, bold, after } = sentence
  const greeting = toOneLine(name) === '' ? 'Hello,' : `Hello ${toOneLine(name)},`
  const paragraphs = [greeting, `${before}“${bold}”${after}:`, url, ...(note === undefined ? [] : [note])]
  const html = renderHtml({
    subject: escapeHtml(subject),
    heading: escapeHtml(heading),
    greeting: escapeHtml(greeting),
    sentence: `${escapeHtml(before)}<strong>${escapeHtml(bold)}</strong>${escapeHtml(after)}.`,
    button: escapeHtml(button),
    url: escapeHtml(url),
    note: note === undefined ? '' : `${SMALL}${escapeHtml(note)}</p>\n`,
  })
  return { subject, text: `${paragraphs.join('\n\n')}\n`, html }
}

const SMALL = '<p style="margin:0 0 16px;font-size:13px;color:#5a6675;overflow-wrap:anywhere">'

/** Styles are inline, because mail programs drop style sheets. */
function renderHtml(part: Record<'subject' | 'heading' | 'greeting' | 'sentence' | 'button' | 'url' | 'note', string>): string {
  return `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${part.subject}</title></head>
<body style="margin:0;padding:24px;background:#f2f4f7;font:16px/1.5 system-ui,-apple-system,'Segoe UI',Roboto,sans-serif;color:#1b2430">
<table role="presentation" width="100%" style="border-collapse:collapse"><tr><td align="center">
<table role="presentation" width="100%" style="max-width:560px;border-collapse:collapse;background:#ffffff;border:1px solid #d9dfe7;border-radius:8px"><tr><td style="padding:32px">
<p style="margin:0 0 24px;font-size:14px;font-weight:600;color:#5a6675">Vitascope</p>
<h1 style="margin:0 0 16px;font-size:22px;line-height:1.3">${part.heading}</h1>
<p style="margin:0 0 8px">${part.greeting}</p>
<p style="margin:0 0 24px;overflow-wrap:anywhere">${part.sentence}</p>
<p style="margin:0 0 24px"><a href="${part.url}" style="display:inline-block;padding:12px 24px;background:#1b5fc1;border-radius:6px;color:#ffffff;font-weight:600;text-decoration:none">${part.button}</a></p>
${part.note}<p style="margin:0;font-size:13px;color:#5a6675;overflow-wrap:anywhere">${part.url}</p>
</td></tr></table>
</td></tr></table>
</body>
</html>
`
}

/** Replaces control characters, all kinds of line breaks, and bidirectional control characters with spaces. */
export function toOneLine(text: string): string {
  return text.replaceAll(/[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]+/gu, ' ').trim()
}

const ESCAPES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }

function escapeHtml(text: string): string {
  return text.replaceAll(/[&<>"']/g, (sign) => ESCAPES[sign] ?? sign)
}
