import { Badge, createTheme, type MantineColorsTuple } from '@mantine/core'

/** Indigo of the logo. The sixth and the eighth shade have a contrast of at least 4.5 to white. */
const indigo: MantineColorsTuple = [
  ...(['#eef0ff', '#dadefa', '#b2b9f0', '#8892e7', '#6471df'] as const),
  ...(['#4d5cdb', '#3f50d6', '#3241bf', '#2b39ab', '#223197'] as const),
]

export const theme = createTheme({
  primaryColor: 'indigo',
  primaryShade: { light: 6, dark: 5 },
  colors: { indigo },
  defaultRadius: 'md',
  cursorType: 'pointer',
  respectReducedMotion: true,
  fontFamily: 'system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", sans-serif',
  components: {
    // The long texts of other columns of a table do not cut a badge.
    Badge: Badge.extend({ defaultProps: { variant: 'light', miw: 'max-content' } }),
    // The element `header` of a dialog would be a second banner of the page. A plain object does not load the dialog.
    Modal: { defaultProps: { attributes: { header: { role: 'presentation' } } } },
  },
  headings: { fontWeight: '650' },
})
