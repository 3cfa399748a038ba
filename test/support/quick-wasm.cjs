// Loaded into every process of a test run. V8 optimizes WebAssembly after its first calls: the HTTP parser of `fetch` takes a quarter
// of a second of processor time in each process that makes a few calls, and `--jq` a twentieth. Its baseline code is enough for tests.

const { Module, instantiate } = WebAssembly
/** What V8 executes before it optimizes, in about bytes: its default in Node 20, and in later ones. */
const usualBudget = process.version.startsWith('v20.') ? 1_800_000 : 13_000_000
const largestBudget = 2 ** 31 - 1

class QuickModule extends Module {
  constructor(bytes) {
    const { setFlagsFromString } = require('node:v8')
    setFlagsFromString(`--wasm-tiering-budget=${largestBudget}`)
    try {
      super(bytes)
    } finally {
      // Code caches are only for the flags that they were made with.
      setFlagsFromString(`--wasm-tiering-budget=${usualBudget}`)
    }
  }
}

WebAssembly.Module = QuickModule
WebAssembly.instantiate = async (source, imports) => {
  if (source instanceof Module) return instantiate(source, imports)
  const module = new QuickModule(source)
  return { module, instance: await instantiate(module, imports) }
}
