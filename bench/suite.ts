/** Benchmarks of `npm run bench`, in their order: those with performance targets. */
export const SUITE: readonly { bench: string; options: readonly string[]; hasPairs: boolean }[] = [
  { bench: 'playback-policy', options: [], hasPairs: false },
  { bench: 'traffic-limits', options: [], hasPairs: false },
  { bench: 'start', options: [], hasPairs: false },
  { bench: 'player', options: [], hasPairs: false },
  { bench: 'console', options: [], hasPairs: false },
  { bench: 'reads', options: [], hasPairs: true },
  { bench: 'growth', options: [], hasPairs: true },
  { bench: 'bytes', options: [], hasPairs: true },
  { bench: 'hostile-viewers', options: [], hasPairs: true },
  { bench: 'analytics', options: [], hasPairs: true },
  { bench: 'overload', options: [], hasPairs: false },
  { bench: 'load', options: ['--minutes', '10'], hasPairs: false },
  { bench: 'encode', options: [], hasPairs: true },
]
