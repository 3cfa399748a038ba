// Writing a message to the conversation that is open, with files.

import { useSignal } from '@preact/signals'
import { useRef } from 'preact/hooks'
import { Sender } from '../../client/sender.ts'
import { Button, bind } from '../parts/basics.tsx'
import { attempt, Icon, IconButton } from '../parts/controls.tsx'
import { actor, ask, call, site } from '../session.ts'
import { narrow, renderName } from './store.ts'

export function Composer() {
  const now = narrow.value
  const text = useSignal('')
  const topic = useSignal('')
  const busy = useSignal(false)
  const files = useRef<HTMLInputElement>(null)
  if (now.kind !== 'topic' && now.kind !== 'channel' && now.kind !== 'direct') return null
  const place = renderName(now)

  const send = async (event?: Event) => {
    event?.preventDefault()
    if (text.value.trim() === '' || busy.value) return
    busy.value = true
    const to =
      now.kind === 'direct'
        ? { type: 'direct', to: now.ids }
        : { type: 'channel', to: now.id, topic: now.kind === 'topic' ? now.topic : topic.value }
    if (await attempt(() => call('POST', '/messages', { ...to, content: text.value }))) text.value = ''
    busy.value = false
  }
  const upload = async () => {
    const file = files.current?.files?.[0]
    if (!file) return
    await attempt(async () => {
      const url = await uploadFile(file)
      text.value += `${text.value && !text.value.endsWith('\n') ? '\n' : ''}[${file.name.replace(/[[\]]/g, '')}](${url})\n`
    })
    files.current!.value = ''
  }
  return (
    <form class="composer" onSubmit={send} aria-label={`Write to ${place}`}>
      {now.kind === 'channel' && (
        <input class="input" placeholder="Topic" aria-label="Topic" maxLength={60} {...bind(topic)} />
      )}
      <textarea
        class="input"
        rows={2}
        placeholder={`Write to ${place} as ${actor.value?.full_name}`}
        aria-label="Message"
        {...bind(text)}
        onKeyDown={event => {
          if (event.key === 'Enter' && !event.shiftKey && !event.isComposing) void send(event)
        }}
      />
      <input ref={files} type="file" class="hidden" aria-label="File" tabIndex={-1} onChange={upload} />
      <IconButton icon="attach" label="Attach a file" onClick={() => files.current?.click()} />
      <Button type="submit" look="primary" disabled={busy.value || text.value.trim() === ''}>
        <Icon name="send" />
        Send
      </Button>
    </form>
  )
}

async function uploadFile(file: File): Promise<string> {
  const { email, api_key } = actor.value!
  const bytes = new Uint8Array(await file.arrayBuffer())
  const upload = { filename: file.name, contentType: file.type || 'application/octet-stream', bytes }
  const calls = new Sender({ site, email, apiKey: api_key, fetch: ask })
  const reply = await calls.send('POST', '/user_uploads', new Map([['filename', upload]]))
  return String(reply.url ?? reply.uri)
}
