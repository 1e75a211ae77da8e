import { type BenchFigure, isGoalMet } from './figure.ts'

const ROW_HEIGHT = 26
const WIDTH = 860
/** Horizontal positions of the ends of the scale. Names are on its left. */
const SCALE = { left: 280, right: 820 }
/** The scale is logarithmic, from a tenth to ten times the goal. */
const DECADES = 1
const TICKS = [0.1, 0.2, 0.5, 1, 2, 5, 10]

/**
 * Returns an SVG. It draws each figure that has a goal as a line from the low to the high end of its
 * interval, with a dot at the median. The goal is in the middle, and better values are on its right.
 */
export function drawPlot(figures: readonly BenchFigure[]): string {
  const rows = figures.filter(({ goal }) => goal !== undefined)
  const height = (rows.length + 2) * ROW_HEIGHT
  const ticks = TICKS.map((share) => {
    const x = toX(share)
    const label = share === 1 ? 'goal' : `${share} ×`
    return `<line x1="${x}" y1="${ROW_HEIGHT}" x2="${x}" y2="${height - ROW_HEIGHT / 2}" class="${share === 1 ? 'goal' : 'tick'}"/>
<text x="${x}" y="${ROW_HEIGHT - 8}" text-anchor="middle">${label}</text>`
  })
  const lines = rows.map((figure, nth) => {
    const y = (nth + 1.7) * ROW_HEIGHT
    const { low, median, high } = toShares(figure)
    return `<g class="${isGoalMet(figure) ? 'met' : 'missed'}"><text x="${SCALE.left - 16}" y="${y + 4}" text-anchor="end">${figure.bench} ${figure.row}</text>
<line x1="${toX(low)}" y1="${y}" x2="${toX(high)}" y2="${y}"/><circle cx="${toX(median)}" cy="${y}" r="5"/></g>`
  })
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" role="img" aria-label="Each figure as a share of its goal">
<style>
text { font: 13px system-ui, sans-serif; fill: #444 }
.tick { stroke: #ddd }
.goal { stroke: #444; stroke-width: 1.5 }
.met { fill: #1a7f37; stroke: #1a7f37; stroke-width: 3 }
.missed { fill: #c2410c; stroke: #c2410c; stroke-width: 3 }
g text { stroke: none }
rect { fill: #fff }
</style>
<rect width="${WIDTH}" height="${height}"/>
${[...ticks, ...lines].join('\n')}
</svg>
`
}

/** Returns the figure as multiples of the goal, so that larger is better. */
function toShares({ goal, value: { low, median, high } }: BenchFigure): { low: number; median: number; high: number } {
  if (goal === undefined) return { low, median, high }
  if ('atLeast' in goal) return { low: low / goal.atLeast, median: median / goal.atLeast, high: high / goal.atLeast }
  return { low: goal.atMost / high, median: goal.atMost / median, high: goal.atMost / low }
}

function toX(share: number): number {
  const position = (Math.max(-DECADES, Math.min(DECADES, Math.log10(share))) + DECADES) / (2 * DECADES)
  return Math.round(SCALE.left + position * (SCALE.right - SCALE.left))
}
