import { Paper, SimpleGrid, type SimpleGridProps, Text } from '@mantine/core'

interface Props {
  figures: readonly (readonly [name: string, value: string])[]
  cols: NonNullable<SimpleGridProps['cols']>
}

/** Figures with their names, each in a box. */
export function FigureGrid({ figures, cols }: Props) {
  return (
    <SimpleGrid cols={cols}>
      {figures.map(([name, value]) => (
        <Paper key={name} withBorder p="md">
          <Text size="sm" c="dimmed">
            {name}
          </Text>
          <span className="figure-value">{value}</span>
        </Paper>
      ))}
    </SimpleGrid>
  )
}
