/** Designs of the controls. Embed codes name them in `player`. */
export const skins = ['akita', 'poodle', 'pug'] as const

export type Skin = (typeof skins)[number]

/** Reads the name of a design. Other names are the default design. */
export function readSkin(name: string | null): Skin {
  return skins.find((skin) => skin === name?.toLowerCase()) ?? 'akita'
}
