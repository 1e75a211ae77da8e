/**
 * Returns the landing page as Markdown of VitePress: what the product is and its first commands, then
 * the tables of `docs/README.md`.
 */
export function toLandingPage(readme: string): string {
  return `---
title: Documentation
titleTemplate: Vitascope
description: Documentation of Vitascope, an open, self-hosted video hosting platform
sidebar: false
aside: false
prev: false
next: false
pageClass: landing
---

<section class="hero">
<div class="hero-text">

<p class="hero-kind">Documentation</p>

# Video hosting on your own machines

Vitascope is an open, self-hosted video platform. Upload a file or name its URL. It plays a few
seconds later, while the rest is still being encoded.

<p class="hero-links"><a class="button" href="/docs/tutorial/first-video">Your first video</a><a class="button quiet" href="/docs/api" target="_self">API reference</a></p>

</div>
<div class="hero-picture">

![The player with a test video](./images/player.jpg)

</div>
</section>

<section class="commands">

From nothing to your first video in three commands:

\`\`\`sh
git clone <this repository> vitascope && cd vitascope
npm start                 # Linux and Node 20.19 or newer, nothing else
curl -u $(cat data/system-key):x localhost:8080/v2/video/upload -F organisation_id=1 -F file=@clip.mp4
\`\`\`

</section>

<ul class="features">
<li><h2>Upload and play</h2><p>From a server, a browser or a phone, resumable by tus. HLS, captions, posters and storyboards.</p></li>
<li><h2>Decide who watches</h2><p>Passwords, signed tokens, and rules about countries, domains and devices.</p></li>
<li><h2>Know what happens</h2><p>Webhooks for every change, reports about views, and a log of all writes.</p></li>
<li><h2>Run it anywhere</h2><p>One machine, Docker Compose or Kubernetes. No acknowledged data is lost when a process is killed.</p></li>
</ul>

${readme.replace(/^# .*\n/, '').replace('`/docs/api` of a running platform', '[API reference](/docs/api)')}`
}
