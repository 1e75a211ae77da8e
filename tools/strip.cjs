// Jest's transformer: Node's own type stripping, so tests run the very code that the product runs.
const { stripTypeScriptTypes } = require('node:module')
const { createHash } = require('node:crypto')

module.exports = {
  process: (source, file) => ({ code: file.endsWith('.ts') ? stripTypeScriptTypes(source) : source }),
  getCacheKey: (source, file) => createHash('sha1').update(`${process.version}${file}\0${source}`).digest('hex'),
}
