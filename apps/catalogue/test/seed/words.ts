import { seededRandom } from '@vitascope/testing'

const COMMON = `the and of to in for with on from how about new our your day week year review part guide talk video meeting
  welcome introduction training update demo overview interview story product customer team event report launch summer winter city music
  health school science energy water market finance history design studio garden kitchen travel mountain river island station market
  football tennis cycling rocket orbit planet robot battery bridge harbour railway airport hospital museum library theatre concert
  festival workshop lecture seminar tutorial webinar keynote panel episode season trailer highlights documentary portrait landscape`
const BEGINNINGS = `al an ar bel bren cal cor dal del dor el en fal far gal gar hal har jar kel kor lan lor mal mar nor ol par per quin ral
  ren sal ser tal tor ul val ver wal wen yar zan zel`
const MIDDLES = 'a be ca di eta fo gu hi inta jo ka lu mo nu opa pi ra se ti uva vo wi xe yo zu'
const ENDINGS =
  'bury dale field ford grad ham heim land ling mont mouth polis rath ridge sen shire stad ström ton town vale ville wick worth'

const splitWords = (text: string) => text.trim().split(/\s+/)

/** Creates a generator of about six thousand words, the most frequent ones first. */
export function makeWords(seed: number) {
  const random = seededRandom(seed)
  const created = splitWords(BEGINNINGS).flatMap((a) => splitWords(MIDDLES).flatMap((b) => splitWords(ENDINGS).map((c) => a + b + c)))
  const rare = created.map((word) => [random(), word] as const).sort(([a], [b]) => a - b)
  const all = [...new Set([...splitWords(COMMON), ...rare.slice(0, 6_000).map(([, word]) => word)])]
  /** The frequency of the nth word is proportional to 1/n. */
  const word = () => all[Math.min(all.length - 1, Math.floor(all.length ** random()) - 1)] ?? 'the'
  const pickWords = (count: number) => Array.from({ length: count }, word).join(' ')
  return { random, word, words: pickWords, randomInt: (min: number, max: number) => min + Math.floor(random() * (max - min + 1)) }
}

export type Words = ReturnType<typeof makeWords>
