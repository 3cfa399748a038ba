// A part of undici that has no types of its own.
declare module 'undici/lib/dispatcher/pool.js' {
  export { Pool as default } from 'undici'
}
