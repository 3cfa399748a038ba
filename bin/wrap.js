// How a bundle becomes a function. The build wraps the programs, which are ASCII: a copy of texts of their size would stay in memory.
// Other bundles are wrapped when they are run.

const opening = '(function (exports, require, module, __filename, __dirname) {'
const closing = '})'

exports.opening = opening
exports.closing = closing

/** The script of a bundle, whose value is the function. */
exports.scriptOf = source => {
  const isWrapped = source[0] === opening.charCodeAt(0)
  return isWrapped ? source.latin1Slice() : `${opening}${source.toString()}\n${closing}`
}

const digestLength = 16

/** A bundle with its digest as the last line, by which its caches are kept. */
exports.withDigest = source => {
  const { createHash } = require('node:crypto')
  return `${source}\n//${createHash('sha256').update(source).digest('hex').slice(0, digestLength)}`
}

exports.digestOf = source => source.latin1Slice(source.length - digestLength)
