// How wide text is on a screen, and where to break it. Apart, because what knows all emoji takes long to load.

export { default as stringWidth } from 'string-width'
export { default as wrapAnsi } from 'wrap-ansi'
