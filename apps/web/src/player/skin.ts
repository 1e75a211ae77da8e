/** Designs of the controls. Embed codes name them in `player`, and themes in `skin`. */
const skins = ['akita', 'poodle', 'pug'] as const

export type Skin = (typeof skins)[number]

/** Reads the name of a design. Other names are undefined. */
export function readSkin(name: string | null): Skin | undefined {
  return skins.find((skin) => skin === name?.toLowerCase())
}
