// How wide text is on a screen, and where to break it. A separate file, because its emoji tables are slow to load.

export { default as stringWidth } from 'string-width'
export { default as wrapAnsi } from 'wrap-ansi'
