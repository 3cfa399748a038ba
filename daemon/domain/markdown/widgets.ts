// Messages that begin with /poll or /todo carry a widget.

export interface Widget {
  readonly widget_type: 'poll' | 'todo'
  readonly extra_data: object
}

export function parseWidget(source: string): Widget | undefined {
  const [, kind, rest] = /^\/(poll|todo)(?=\s|$)(.*)$/s.exec(source) ?? []
  if (kind === undefined) return undefined
  const [first, ...lines] = rest!.split('\n').map(line => line.trim())
  const items = lines.map(line => line.replace(/^[-*]\s*/, '')).filter(line => line !== '')
  if (kind === 'poll') return { widget_type: 'poll', extra_data: { question: first!, options: items } }
  return { widget_type: 'todo', extra_data: { task_list_title: first!, tasks: items.map(task) } }
}

/** `task: description` */
function task(line: string): { task: string; desc: string } {
  const colon = line.indexOf(':')
  return colon < 0
    ? { task: line, desc: '' }
    : { task: line.slice(0, colon).trim(), desc: line.slice(colon + 1).trim() }
}
