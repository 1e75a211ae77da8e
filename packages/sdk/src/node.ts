import { openFile } from './upload/file-source.ts'
import { Vitascope as BrowserVitascope, type VitascopeOptions } from './vitascope.ts'

export * from './index.ts'

/** Client of a Vitascope platform, whose `videos.upload` also accepts paths of files. See `VitascopeOptions`. */
export class Vitascope extends BrowserVitascope {
  constructor(options: VitascopeOptions) {
    super(options, openFile)
  }
}
