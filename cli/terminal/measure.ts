// Measures and wraps text for a screen. A separate file, because its emoji tables are slow to load.

export { default as stringWidth } from 'string-width'
export { default as wrapAnsi } from 'wrap-ansi'
