import { firstCharacters } from '@vitascope/request'

export interface Recipient {
  email: string
  /** Empty if the name is unknown. */
  name: string
}

/** Subject and body of the mail to the uploader, as text and as HTML. */
export interface SuccessMessage {
  subject: string
  text: string
  html: string
}

const MAX_SUBJECT_CHARACTERS = 120

/**
 * Returns the success mail. Titles and names are input of users, so line breaks are removed and HTML is
 * escaped.
 */
export function createSuccessMessage({ title, name, playerUrl }: { title: string; name: string; playerUrl: string }): SuccessMessage {
  const titleLine = toOneLine(title)
  const shortTitle = firstCharacters(titleLine, MAX_SUBJECT_CHARACTERS)
  const greeting = toOneLine(name) === '' ? 'Hello,' : `Hello ${toOneLine(name)},`
  const subject = `Your video is ready: ${shortTitle === titleLine ? titleLine : `${shortTitle}…`}`
  return {
    subject,
    text: `${greeting}\n\nyour video “${titleLine}” has been encoded and can be watched:\n\n${playerUrl}\n`,
    html: renderHtml({
      subject: escapeHtml(subject),
      greeting: escapeHtml(greeting),
      title: escapeHtml(titleLine),
      url: escapeHtml(playerUrl),
    }),
  }
}

/** Styles are inline, because mail programs drop style sheets. */
function renderHtml({ subject, greeting, title, url }: { subject: string; greeting: string; title: string; url: string }): string {
  return `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${subject}</title></head>
<body style="margin:0;padding:24px;background:#f2f4f7;font:16px/1.5 system-ui,-apple-system,'Segoe UI',Roboto,sans-serif;color:#1b2430">
<table role="presentation" width="100%" style="border-collapse:collapse"><tr><td align="center">
<table role="presentation" width="100%" style="max-width:560px;border-collapse:collapse;background:#ffffff;border:1px solid #d9dfe7;border-radius:8px"><tr><td style="padding:32px">
<p style="margin:0 0 24px;font-size:14px;font-weight:600;color:#5a6675">Vitascope</p>
<h1 style="margin:0 0 16px;font-size:22px;line-height:1.3">Your video is ready</h1>
<p style="margin:0 0 8px">${greeting}</p>
<p style="margin:0 0 24px;overflow-wrap:anywhere">your video <strong>${title}</strong> has been encoded and can be watched.</p>
<p style="margin:0 0 24px"><a href="${url}" style="display:inline-block;padding:12px 24px;background:#1b5fc1;border-radius:6px;color:#ffffff;font-weight:600;text-decoration:none">Watch the video</a></p>
<p style="margin:0;font-size:13px;color:#5a6675;overflow-wrap:anywhere">${url}</p>
</td></tr></table>
</td></tr></table>
</body>
</html>
`
}

/** Replaces control characters, all kinds of line breaks, and bidirectional control characters with spaces. */
function toOneLine(text: string): string {
  return text.replaceAll(/[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]+/gu, ' ').trim()
}

const ESCAPES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }

function escapeHtml(text: string): string {
  return text.replaceAll(/[&<>"']/g, (sign) => ESCAPES[sign] ?? sign)
}
