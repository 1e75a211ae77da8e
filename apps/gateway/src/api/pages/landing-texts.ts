import type { PageLanguage } from '../../server/http/plain-page.ts'

export interface Card {
  title: string
  text: string
  href?: string
}

interface LandingTexts {
  title: string
  lead: string
  signIn: string
  console: string
  documentation: string
  features: string
  changes: string
  pages: readonly Card[]
  list: readonly Card[]
}

export const LANDING_TEXTS: Readonly<Record<PageLanguage, LandingTexts>> = {
  en: {
    title: 'Your videos, on your own servers',
    lead: 'Vitascope is an open, self-hosted video platform. It encodes what you upload, decides who may watch, and plays it on every device.',
    signIn: 'Sign in',
    console: 'Open the console',
    documentation: 'Read the documentation',
    features: 'What it does',
    changes: 'Changes',
    pages: [
      { title: 'Console', text: 'Upload, edit and publish videos, and see who watches them.', href: '/console' },
      { title: 'Upload page', text: 'Send files with an access key, without an account.', href: '/upload' },
      { title: 'Guides', text: 'A tutorial, guides by task, and how to operate the platform.', href: '/docs' },
      { title: 'API reference', text: 'Every operation with its fields, errors and examples.', href: '/docs/api' },
    ],
    list: [
      { title: 'Plays within seconds', text: 'The start of a video plays while the rest is still being encoded.' },
      { title: 'Protected', text: 'Signed tokens, passwords, and rules for sites, countries and addresses.' },
      { title: 'Accessible player', text: 'Captions, chapters and keyboard control, embedded by one line of HTML.' },
      { title: 'Measured', text: 'Views, watched parts and quality of playback, without cookies of other companies.' },
      { title: 'Automated', text: 'A REST API, a TypeScript SDK, a command line tool and signed webhooks.' },
      { title: 'Yours', text: 'It runs on one machine or on a Kubernetes cluster. Files stay in your storage.' },
    ],
  },
  de: {
    title: 'Ihre Videos auf Ihren eigenen Servern',
    lead: 'Vitascope ist eine offene Videoplattform, die Sie selbst betreiben. Sie kodiert Ihre Uploads, entscheidet, wer zusehen darf, und spielt sie auf jedem Gerät ab.',
    signIn: 'Anmelden',
    console: 'Konsole öffnen',
    documentation: 'Dokumentation lesen',
    features: 'Was sie kann',
    changes: 'Änderungen',
    pages: [
      { title: 'Konsole', text: 'Videos hochladen, bearbeiten und veröffentlichen, und sehen, wer sie ansieht.', href: '/console' },
      { title: 'Upload-Seite', text: 'Dateien mit einem Zugangsschlüssel senden, ohne Konto.', href: '/upload' },
      { title: 'Anleitungen', text: 'Ein Tutorial, Anleitungen nach Aufgaben und zum Betrieb der Plattform.', href: '/docs' },
      { title: 'API-Referenz', text: 'Jede Operation mit Feldern, Fehlern und Beispielen.', href: '/docs/api' },
    ],
    list: [
      { title: 'Nach Sekunden abspielbar', text: 'Der Anfang eines Videos läuft, während der Rest noch kodiert wird.' },
      { title: 'Geschützt', text: 'Signierte Tokens, Passwörter und Regeln für Websites, Länder und Adressen.' },
      { title: 'Barrierefreier Player', text: 'Untertitel, Kapitel und Tastaturbedienung, eingebettet mit einer Zeile HTML.' },
      { title: 'Gemessen', text: 'Aufrufe, angesehene Teile und Qualität der Wiedergabe, ohne Cookies anderer Firmen.' },
      { title: 'Automatisiert', text: 'Eine REST-API, ein TypeScript-SDK, ein Kommandozeilenprogramm und signierte Webhooks.' },
      { title: 'In Ihrer Hand', text: 'Läuft auf einer Maschine oder in einem Kubernetes-Cluster. Dateien bleiben in Ihrem Speicher.' },
    ],
  },
}
