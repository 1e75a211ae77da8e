import { useTranslation } from 'react-i18next'
import { languageName } from './language-name.ts'

const PRODUCTS: Readonly<Record<string, string>> = {
  ...{ chrome: 'Chrome', edge: 'Edge', firefox: 'Firefox', opera: 'Opera', safari: 'Safari', samsung: 'Samsung Internet' },
  ...{ android: 'Android', chromeos: 'ChromeOS', ios: 'iOS', linux: 'Linux', macos: 'macOS', windows: 'Windows' },
}
const DEVICES = ['desktop', 'phone', 'tablet', 'tv'] as const

/** Returns a function that returns the name of a value of analytics in the language of the console. */
export function useValueName(): (dimension: string, value: string) => string {
  const { t, i18n } = useTranslation()
  const countryName = (code: string) => new Intl.DisplayNames([i18n.language], { type: 'region', fallback: 'code' }).of(code) ?? code
  return (dimension, value) => {
    if (value === '') return t(dimension === 'referrer' ? 'analytics.values.direct' : 'analytics.values.unknown')
    if (dimension === 'languages' || dimension === 'subtitles') return languageName(value, i18n.language)
    if (dimension === 'country') return countryName(value)
    if (value === 'other') return t('analytics.values.other')
    const device = DEVICES.find((name) => name === value)
    if (dimension === 'device' && device) return t(`analytics.values.${device}`)
    return PRODUCTS[value] ?? value
  }
}
