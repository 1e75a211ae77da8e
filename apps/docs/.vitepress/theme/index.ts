import type { Theme } from 'vitepress'
import DefaultTheme from 'vitepress/theme-without-fonts'
import { h } from 'vue'
import './colours.css'
import './pages.css'
import './landing.css'
import { followProblemType } from './problem-type.ts'

const theme: Theme = {
  extends: DefaultTheme,
  Layout: () => h(DefaultTheme.Layout, null, { 'not-found': notFound }),
  enhanceApp() {
    if (!import.meta.env.SSR) followProblemType()
  },
}

function notFound() {
  return h('main', { class: 'not-found' }, [
    h('h1', 'There is no page here'),
    h('p', 'The address may be misspelt, or the page has moved. The search finds it.'),
    h('a', { class: 'button', href: '/docs/' }, 'Go to the documentation'),
  ])
}

export default theme
