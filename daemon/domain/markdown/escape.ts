// Text that must not be read as HTML.

export function escapeHtml(text: string): string {
  return needsEscape.test(text)
    ? text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')
    : text
}

const needsEscape = /[&<>"]/
