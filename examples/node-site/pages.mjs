/** Returns the page with the upload form and the videos. */
export function listPage(videos) {
  const rows = videos.map(
    (video) =>
      `<li><a href="/watch/${escapeHtml(video.video_id)}">${escapeHtml(video.video_title)}</a> <small>${escapeHtml(video.status.status)}</small></li>`,
  )
  return layout(
    'Videos',
    `<form><input type="file" accept="video/*" required aria-label="Video file" /> <button>Upload</button></form>
<p role="status"></p>
<ul>${rows.join('\n')}</ul>
<script src="/upload.js" defer></script>`,
  )
}

/** Returns the page of a video, with the player of the platform. */
export function watchPage(platformUrl, id, token) {
  const address = `${platformUrl}/player/${encodeURIComponent(id)}?token=${encodeURIComponent(token)}`
  return layout(
    'Watch',
    `<p><a href="/">All videos</a></p>
<iframe src="${escapeHtml(address)}" title="Video" allow="autoplay; fullscreen; picture-in-picture" allowfullscreen></iframe>`,
  )
}

/** Returns a page with one message. */
export function messagePage(message) {
  return layout('Not available', `<p>${escapeHtml(message)}</p><p><a href="/">All videos</a></p>`)
}

function layout(title, content) {
  return `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <title>${escapeHtml(title)}</title>
    <style>
      body { max-width: 48rem; margin: 3rem auto; padding: 0 1rem; font: 1rem/1.5 system-ui, sans-serif; }
      iframe { width: 100%; aspect-ratio: 16/9; border: 0; }
    </style>
  </head>
  <body>
    <h1>${escapeHtml(title)}</h1>
    ${content}
  </body>
</html>
`
}

function escapeHtml(text) {
  return String(text).replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')
}
