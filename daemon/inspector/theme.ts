// Light, dark, or as the system says: one choice for the inspector and the documentation.

const key = 'natter-inspector theme'
const order = ['auto', 'light', 'dark']

export function readTheme(): string {
  return localStorage.getItem(key) ?? 'auto'
}

export function showTheme(theme: string): void {
  if (theme === 'auto') delete document.documentElement.dataset.theme
  else document.documentElement.dataset.theme = theme
}

/** Chooses the next one and keeps it. */
export function chooseNextTheme(theme: string): string {
  const next = order[(order.indexOf(theme) + 1) % order.length]!
  localStorage.setItem(key, next)
  return next
}
